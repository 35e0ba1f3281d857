/** Clients that send one operation after the other, retry lost connections, and record every attempt. */
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { Random } from "../ledger/Random.ts"
import { readReceipts, send } from "./Client.ts"
import type { Account, Cluster } from "./Cluster.ts"
import type { Attempt, Operation, Outcome, ReceiptsRead } from "./Evidence.ts"
import { nextOperation } from "./Workload.ts"

/** A client gives up after this many attempts. */
export const ATTEMPTS_MAX = 8

export interface Load {
  readonly operations: Array<Operation>
  readonly attempts: Array<Attempt>
  readonly receiptReads: Array<ReceiptsRead>
}

export const emptyLoad = (): Load => ({ operations: [], attempts: [], receiptReads: [] })

const hexOf = (value: number, digits: number) => value.toString(16).padStart(digits, "0")

let traces = 0

/** A trace id that is unique to this process. */
const nextTraceId = () => `${hexOf(process.pid, 8)}${hexOf(Date.now(), 12)}${hexOf(++traces, 12)}`

/** Sends an operation once to one gateway and records the attempt. The upstream must have its script already. */
const sendOnce = async (
  cluster: Cluster,
  load: Load,
  operation: Operation,
  { account, beforeHead, gateway }: { account: Account; gateway: number; beforeHead?: Promise<unknown> }
): Promise<Outcome> => {
  const traceId = nextTraceId()
  const startedAt = Date.now()
  const port = cluster.gateways[gateway]?.port ?? 0
  const cut = beforeHead === undefined ? {} : { beforeHead }
  const outcome = await send({ port, key: account.key, traceId, operation, ...cut })
  load.attempts.push({ operation: operation.id, traceId, gateway, startedAt, endedAt: Date.now(), outcome })
  return outcome
}

/** Scripts an operation at the upstream, sends it once and records both. */
export const sendNew = (
  cluster: Cluster,
  load: Load,
  operation: Operation,
  options: { account: Account; gateway: number; beforeHead?: Promise<unknown> }
): Effect.Effect<Outcome> =>
  Effect.promise(() => {
    load.operations.push(operation)
    cluster.upstream.script(operation)
    return sendOnce(cluster, load, operation, options)
  })

/** Failures that a retry repeats. After `upstream_timeout` each retry would take as long as the timeout. */
const FINAL_CODES = new Set(["idempotency_result_unavailable", "upstream_timeout"])

/** Whether a client retries: it does not know the outcome, or the status of the answer says that a retry may help. */
const shouldRetry = (outcome: Outcome): boolean => {
  if (outcome._tag !== "Answered") return outcome._tag === "Lost" || outcome._tag === "Refused"
  const { code, status } = outcome.answer
  return [409, 502, 503, 504].includes(status) && !FINAL_CODES.has(code ?? "")
}

export interface ClientOptions {
  readonly cluster: Cluster
  readonly load: Load
  readonly accounts: ReadonlyMap<string, Account>
  readonly seed: number
  readonly client: number
  readonly keepGoing: () => boolean
}

/** Sends an operation to one gateway after the other until it has an answer, or the client gives up or must stop. */
const retryUntilAnswered = async (
  { cluster, keepGoing, load }: ClientOptions,
  operation: Operation,
  { account, cutMs, first }: { account: Account; first: number; cutMs: number }
): Promise<void> => {
  let repeats = operation.repeat === "afterwards" ? 1 : 0
  for (let count = 0; count < ATTEMPTS_MAX && (count === 0 || keepGoing()); count++) {
    const gateway = (first + count) % cluster.gateways.length
    // Only the first attempt disconnects early.
    const sent = count === 0 ? operation : { ...operation, cutAfter: undefined }
    const cut = sent.cutAfter === 0 ? { beforeHead: sleep(cutMs) } : {}
    const outcome = await sendOnce(cluster, load, sent, { account, gateway, ...cut })
    const again = shouldRetry(outcome) || (outcome._tag === "Cut" && operation.idempotencyKey !== undefined)
    if (!again && repeats-- <= 0) return
    await sleep(100 * (count + 1))
  }
}

/** Runs one client until it must stop. The seed fixes its operations; the number of attempts depends on the run. */
export const runClient = async (options: ClientOptions): Promise<void> => {
  const { accounts, client, cluster, keepGoing, load, seed } = options
  const random = new Random(seed * 1_009 + client)
  for (let number = 0; keepGoing(); number++) {
    const operation = nextOperation(random, `${client}-${number}`)
    // Drawn even when unused, so that the next operation depends on the seed alone.
    const first = random.below(cluster.gateways.length)
    const cutMs = random.below(40)
    const reads = random.chance(0.1)
    const account = accounts.get(operation.account)
    if (account === undefined) throw new Error(`The run has no account ${operation.account}.`)
    load.operations.push(operation)
    cluster.upstream.script(operation)
    const firsts = operation.repeat === "at once" ? [first, first + 1] : [first]
    await Promise.all(firsts.map((one) => retryUntilAnswered(options, operation, { account, first: one, cutMs })))
    const startedAt = Date.now()
    const read = reads ? await readReceipts(cluster.gateways[first]?.port ?? 0, account.key) : undefined
    if (read !== undefined) load.receiptReads.push({ ...read, gateway: first, startedAt, endedAt: Date.now() })
  }
}
