/** Clients at work: each asks one thing after the other, again where its connection was lost, and notes all of it. */
import { Random } from "../ledger/Random.ts"
import { read, send } from "./Client.ts"
import type { Ask, Ending, Reading, Try } from "./Notes.ts"
import type { Account, World } from "./World.ts"
import { nextAsk } from "./Workload.ts"

/** A client gives an ask up after so many tries. */
const TRIES_MAX = 8

export interface Load {
  readonly asks: Array<Ask>
  readonly tries: Array<Try>
  readonly readings: Array<Reading>
}

export const emptyLoad = (): Load => ({ asks: [], tries: [], readings: [] })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const hexOf = (value: number, digits: number) => value.toString(16).padStart(digits, "0")

let traces = 0

/** Unlike any other of this process. */
const nextTraceId = () => `${hexOf(process.pid, 8)}${hexOf(Date.now(), 12)}${hexOf(++traces, 12)}`

/** Sends an ask once to one gateway, and notes it. The upstream must know the ask. */
export const tryOnce = async (
  world: World,
  load: Load,
  ask: Ask,
  { account, gateway, beforeHead }: { account: Account; gateway: number; beforeHead?: Promise<unknown> }
): Promise<Ending> => {
  const traceId = nextTraceId()
  const startedAt = Date.now()
  const port = world.gateways[gateway]?.port ?? 0
  const cut = beforeHead === undefined ? {} : { beforeHead }
  const ending = await send({ port, key: account.key, traceId, ask, ...cut })
  load.tries.push({ ask: ask.id, traceId, gateway, startedAt, endedAt: Date.now(), ending })
  return ending
}

/** Whether a careful client asks again: it does not know what became of its request, or was told that trying helps. */
const unsettled = (ending: Ending): boolean => {
  if (ending._tag === "Answered") return [409, 502, 503, 504].includes(ending.seen.status) && !isFinal(ending)
  return ending._tag === "Lost" || ending._tag === "Refused"
}

/** A host that fell silent does so again at every try, and each takes as long as the clock that ends it. */
const finals = new Set(["idempotency_result_unavailable", "upstream_timeout"])

const isFinal = (ending: Ending): boolean => ending._tag === "Answered" && finals.has(ending.seen.code ?? "")

export interface Working {
  readonly world: World
  readonly load: Load
  readonly accounts: ReadonlyMap<string, Account>
  readonly seed: number
  readonly worker: number
  readonly goesOn: () => boolean
}

/** Asks until there is an answer, or the client has had enough or is told to end; every try goes to the next gateway. */
const askUntilAnswered = async (
  { goesOn, load, world }: Working,
  ask: Ask,
  { account, cutMs, first }: { account: Account; first: number; cutMs: number }
): Promise<void> => {
  let repeats = ask.repeat === "afterwards" ? 1 : 0
  for (let count = 0; count < TRIES_MAX && (count === 0 || goesOn()); count++) {
    const gateway = (first + count) % world.gateways.length
    // Who asks again wants the answer.
    const asked = count === 0 ? ask : { ...ask, cutAfter: undefined }
    const cut = asked.cutAfter === 0 ? { beforeHead: pause(cutMs) } : {}
    const ending = await tryOnce(world, load, asked, { account, gateway, ...cut })
    const again = unsettled(ending) || (ending._tag === "Cut" && ask.idempotencyKey !== undefined)
    if (!again && repeats-- <= 0) return
    await pause(100 * (count + 1))
  }
}

/** One client, until it is told to end. What it asks follows from the seed; how often it has to ask, from what happens. */
export const work = async (working: Working): Promise<void> => {
  const { accounts, goesOn, load, seed, worker, world } = working
  const random = new Random(seed * 1_009 + worker)
  for (let number = 0; goesOn(); number++) {
    const ask = nextAsk(random, `${worker}-${number}`)
    // Drawn whether needed or not: what is asked next must not depend on what happens.
    const first = random.below(world.gateways.length)
    const cutMs = random.below(40)
    const reads = random.chance(0.1)
    const account = accounts.get(ask.account)
    if (account === undefined) throw new Error(`no account ${ask.account}`)
    load.asks.push(ask)
    world.upstream.script(ask)
    const twins = ask.repeat === "at once" ? [first, first + 1] : [first]
    await Promise.all(twins.map((one) => askUntilAnswered(working, ask, { account, first: one, cutMs })))
    const startedAt = Date.now()
    const reading = reads ? await read(world.gateways[first]?.port ?? 0, account.key) : undefined
    if (reading !== undefined) load.readings.push({ ...reading, gateway: first, startedAt, endedAt: Date.now() })
  }
}
