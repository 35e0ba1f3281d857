/** Pairs of requests: one for a thing of another account, and the same one for a thing that does not exist. */
import type { Call, Things } from "../support/Calls.ts"
import { callsOf, noThings } from "../support/Calls.ts"
import { operations, type PublishedOperation } from "../support/Published.ts"
import { absentThings } from "../support/Answers.ts"
import type { Random } from "../ledger/Random.ts"

/** What an attacker knows: their own things, and the ids of the victim's things. */
export interface Known {
  readonly own: Things
  readonly theirs: Things
}

/** Two requests that must get the same answer. */
export interface Pair {
  readonly what: string
  readonly credential: PublishedOperation["credential"]
  /** Whether both must be refused, because they name a thing that is not the attacker's. Otherwise they may succeed. */
  readonly refused: boolean
  readonly theirs: Call
  readonly absent: Call
  /** Every id in the two requests. */
  readonly asked: ReadonlyArray<string>
}

const names = Object.keys(noThings) as ReadonlyArray<keyof Things>

const textOf = (call: Call | undefined): string => JSON.stringify([call?.path, call?.body])

/** Returns the kinds of things that the call of an operation names. */
const namedBy = (id: string): ReadonlyArray<keyof Things> => {
  const plain = textOf(callsOf().get(id))
  return names.filter((name) => textOf(callsOf({ [name]: `a-${name}` }).get(id)) !== plain)
}

const naming = operations
  .filter(({ credential }) => credential !== "none")
  .map((operation) => ({ operation, named: namedBy(operation.id) }))
  .filter(({ named }) => named.length > 0)

/** Calls that name things in other places than the usual call of an operation: in bodies, filters and cursors. */
const others: ReadonlyArray<{
  readonly what: string
  readonly credential: PublishedOperation["credential"]
  readonly call: (things: Things, own: Things) => Call
}> = [
  {
    what: "a key made in a project",
    credential: "management key",
    call: ({ project }) => ({ method: "POST", path: "/management/keys", body: { name: "k", project_id: project } })
  },
  {
    what: "a key moved into a project",
    credential: "management key",
    call: ({ project }, own) => ({
      method: "PATCH",
      path: `/management/keys/${own.key}`,
      body: { project_id: project }
    })
  },
  {
    what: "a preset as a model",
    credential: "inference key",
    call: ({ preset }) => ({
      method: "POST",
      path: "/chat/completions",
      body: { model: `@${preset}`, messages: [{ role: "user", content: "Hello!" }] }
    })
  },
  {
    what: "the audit events of a key",
    credential: "management key",
    call: ({ managementKey }) => ({ method: "GET", path: `/management/audit?actor_ids[]=${managementKey}` })
  },
  ...(
    [
      ["management key", "/management/keys?cursor=", "key"],
      ["management key", "/management/projects?cursor=", "project"],
      ["management key", "/management/webhooks?cursor=", "webhook"],
      ["management key", "/management/presets?cursor=", "key"],
      ["session", "/console/management-keys?cursor=", "managementKey"],
      ["session", "/console/top-ups?cursor=", "topUp"],
      ["inference key", "/requests?cursor=", "request"],
      ["inference key", "/webhooks?cursor=", "webhook"],
      ["inference key", "/videos?after=", "video"],
      ["session", "/videos?after=", "video"],
      ["session", "/batches?after=", "batch"],
      ["session", "/files?after=", "file"],
      ["inference key", "/batches?after=", "batch"],
      ["inference key", "/files?after=", "file"]
    ] as const
  ).map(([credential, path, name]) => ({
    what: `a page behind a ${name}`,
    credential,
    call: (things: Things): Call => ({ method: "GET", path: path + things[name] })
  }))
]

/** Mixes at least one thing of the victim with the attacker's own things. */
const chosen = (random: Random, { own, theirs }: Known, named: ReadonlyArray<keyof Things>) => {
  const sure = random.pick(named)
  const isTheirs = (name: keyof Things) => name === sure || random.chance(0.5)
  const absent = absentThings(theirs, () => random.hex(12))
  const things = (other: Things): Things =>
    Object.fromEntries(names.map((name) => [name, (isTheirsOf.get(name) ? other : own)[name]])) as unknown as Things
  const isTheirsOf = new Map(names.map((name) => [name, isTheirs(name)]))
  return { theirs: things(theirs), absent: things(absent) }
}

/** Adds a query to some calls, which must not change the result. */
const asked = (random: Random, call: Call): Call => {
  if (call.method !== "GET" || call.path.includes("?") || random.chance(0.7)) return call
  return { ...call, path: `${call.path}?${random.pick(["limit=1", "limit=100", "limit=0", "unknown=1"])}` }
}

const otherPair = (random: Random, { own, theirs }: Known): Pair => {
  const { call, credential, what } = random.pick(others)
  const absent = absentThings(theirs, () => random.hex(12))
  return {
    what,
    credential,
    refused: false,
    theirs: call(theirs, own),
    absent: call(absent, own),
    asked: [...Object.values(theirs), ...Object.values(absent)]
  }
}

/** Returns the next pair, which depends on the random numbers only. */
export const nextPair = (random: Random, known: Known): Pair => {
  if (random.chance(0.2)) return otherPair(random, known)
  const { named, operation } = random.pick(naming)
  const things = chosen(random, known, named)
  const theirs = callsOf(things.theirs).get(operation.id)!
  const absent = callsOf(things.absent).get(operation.id)!
  const closer = asked(random, theirs)
  return {
    what: operation.id,
    credential: random.pick(operation.credentials),
    refused: true,
    theirs: closer,
    absent: { ...absent, path: absent.path + closer.path.slice(theirs.path.length) },
    asked: [...Object.values(things.theirs), ...Object.values(things.absent)]
  }
}
