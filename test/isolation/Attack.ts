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
  /** It names what is not the caller's, and so must be refused; else it may be answered with what is. */
  readonly refused: boolean
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

/** Questions that name things elsewhere than an operation's usual call does: in bodies, filters and cursors. */
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
    what: "what a key did",
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

const otherPair = (random: Random, { own, theirs }: Known): Pair => {
  const { call, credential, what } = random.pick(others)
  const absent = absentThings(theirs, () => random.hex(12))
  return {
    what,
    credential,
    refused: false,
    theirs: call(theirs, own),
    nobodys: call(absent, own),
    asked: [...Object.values(theirs), ...Object.values(absent)]
  }
}

/** The next pair, always the same for the same numbers. */
export const nextPair = (random: Random, known: Known): Pair => {
  if (random.chance(0.2)) return otherPair(random, known)
  const { named, operation } = random.pick(naming)
  const things = chosen(random, known, named)
  const theirs = callsOf(things.theirs).get(operation.id)!
  const nobodys = callsOf(things.nobodys).get(operation.id)!
  const closer = asked(random, theirs)
  return {
    what: operation.id,
    credential: random.pick(operation.credentials),
    refused: true,
    theirs: closer,
    nobodys: { ...nobodys, path: nobodys.path + closer.path.slice(theirs.path.length) },
    asked: [...Object.values(things.theirs), ...Object.values(things.nobodys)]
  }
}
