/** Requests of one account for what another has, each beside the same request for what nobody has. */
import type { Call, Things } from "../support/Calls.ts"
import { callsOf, noThings } from "../support/Calls.ts"
import { operations, type PublishedOperation } from "../support/Published.ts"
import { absentThings } from "../support/Answers.ts"
import type { Random } from "../ledger/Random.ts"

/** What somebody knows who attacks: their own things, and, from wherever, the ids of somebody else's. */
export interface Known {
  readonly own: Things
  readonly theirs: Things
}

/** Two requests that must be answered alike. */
export interface Pair {
  readonly what: string
  readonly credential: PublishedOperation["credential"]
  readonly theirs: Call
  readonly nobodys: Call
  /** Every id in them. */
  readonly asked: ReadonlyArray<string>
}

const names = Object.keys(noThings) as ReadonlyArray<keyof Things>

const textOf = (call: Call | undefined): string => JSON.stringify([call?.path, call?.body])

/** Which things the call of an operation names. */
const namedBy = (id: string): ReadonlyArray<keyof Things> => {
  const plain = textOf(callsOf().get(id))
  return names.filter((name) => textOf(callsOf({ [name]: `a-${name}` }).get(id)) !== plain)
}

const naming = operations
  .filter(({ credential }) => credential !== "none")
  .map((operation) => ({ operation, named: namedBy(operation.id) }))
  .filter(({ named }) => named.length > 0)

/** Some of theirs, at least one, among some of their own. */
const chosen = (random: Random, { own, theirs }: Known, named: ReadonlyArray<keyof Things>) => {
  const sure = random.pick(named)
  const isTheirs = (name: keyof Things) => name === sure || random.chance(0.5)
  const absent = absentThings(theirs, () => random.hex(12))
  const things = (other: Things): Things =>
    Object.fromEntries(names.map((name) => [name, (isTheirsOf.get(name) ? other : own)[name]])) as unknown as Things
  const isTheirsOf = new Map(names.map((name) => [name, isTheirs(name)]))
  return { theirs: things(theirs), nobodys: things(absent) }
}

/** The same question, more closely: what a query adds must make no difference either. */
const asked = (random: Random, call: Call): Call => {
  if (call.method !== "GET" || call.path.includes("?") || random.chance(0.7)) return call
  return { ...call, path: `${call.path}?${random.pick(["limit=1", "limit=100", "limit=0", "unknown=1"])}` }
}

/** The next pair, always the same for the same numbers. */
export const nextPair = (random: Random, known: Known): Pair => {
  const { named, operation } = random.pick(naming)
  const things = chosen(random, known, named)
  const theirs = callsOf(things.theirs).get(operation.id)!
  const nobodys = callsOf(things.nobodys).get(operation.id)!
  const closer = asked(random, theirs)
  return {
    what: operation.id,
    credential: operation.credential,
    theirs: closer,
    nobodys: { ...nobodys, path: nobodys.path + closer.path.slice(theirs.path.length) },
    asked: [...Object.values(things.theirs), ...Object.values(things.nobodys)]
  }
}
