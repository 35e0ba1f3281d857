/**
 * Where the first limit of many nodes lies, by simulating how their groups of ledger operations share databases. It is small on purpose:
 * each figure it starts from was measured, and what it leaves out (networks, vacuum, failures) only lowers what it finds.
 */

/** What was measured on one machine with two cores, and what is assumed of larger ones. */
export interface Figures {
  /** Requests per second of a node with a core to itself. */
  readonly nodeRequests: number
  /** Milliseconds that a group of operations takes in the database: for itself, and for each operation. */
  readonly groupMs: number
  readonly operationMs: number
  /** Bytes of the write-ahead log for a request, with the pages that each checkpoint adds. */
  readonly walBytes: number
  /** Decisions per second of one Redis, of which a request needs one. */
  readonly redisDecisions: number
  /** Of each database server. */
  readonly cores: number
  readonly walBytesPerSecond: number
}

export const measured: Figures = {
  nodeRequests: 5_182,
  groupMs: 0.34,
  operationMs: 0.028,
  walBytes: 5_000,
  redisDecisions: 16_164,
  cores: 32,
  walBytesPerSecond: 1_000_000_000
}

export interface Setting {
  readonly nodes: number
  /** Among how many of them the balancer spreads the requests of one account. */
  readonly spread: number
  /** Database servers, between which accounts are distributed. */
  readonly servers: number
  /** Whether a node forms one group for all accounts, or one for each server. The first needs one server. */
  readonly groups: "all" | "server"
  /** Independent Redis servers, between which accounts are distributed. */
  readonly redis: number
}

export interface Load {
  readonly seed: number
  readonly accounts: number
  /** Whether the n-th account has an n-th of the first one's share, as accounts of a real service do; otherwise all have the same. */
  readonly skewed: boolean
  readonly seconds: number
}

export const usualLoad: Load = { seed: 40, accounts: 100_000, skewed: true, seconds: 0.5 }

const MAX_GROUP = 256

/** A group's operations have waited for longer than this: the load is too high. */
const TOO_LATE_MS = 100

/** A small generator with a seed (mulberry32). */
export const random = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Draws accounts. Of 100,000 skewed ones, the first has 6 % of all requests. */
const drawAccount = ({ accounts, skewed }: Load, next: () => number) => {
  const range = Math.log(accounts)
  return (): number => Math.floor(skewed ? Math.exp(next() * range) : next() * accounts)
}

interface Server {
  /** When each of its cores is free. */
  readonly cores: Float64Array
  /** When the last group that locked an account's balance ends. */
  readonly lockedUntil: Map<number, number>
}

/** Runs a group: it waits for a core and, account by account, for every group that has locked one of its balances. Returns its end. */
const runGroup = ({ cores, lockedUntil }: Server, at: number, accounts: ReadonlyArray<number>, figures: Figures) => {
  let core = 0
  for (let index = 1; index < cores.length; index++) if (cores[index]! < cores[core]!) core = index
  const began = Math.max(at, cores[core]!)
  let locked = began
  for (const account of accounts) locked = Math.max(locked, lockedUntil.get(account) ?? 0)
  const worked = figures.groupMs + accounts.length * figures.operationMs
  const end = locked + worked
  // A group that waits for a lock leaves its core to others.
  cores[core] = began + worked
  for (const account of accounts) lockedUntil.set(account, end)
  return end
}

/** Returns whether the databases keep up with so many requests per second. */
export const keepsUp = (
  rate: number,
  { groups, nodes, servers, spread }: Setting,
  load: Load,
  figures: Figures
): boolean => {
  const next = random(load.seed)
  const draw = drawAccount(load, next)
  const all = Array.from({ length: servers }, (): Server => ({
    cores: new Float64Array(figures.cores),
    lockedUntil: new Map()
  }))
  const lanes = groups === "all" ? nodes : nodes * servers
  const waiting = Array.from({ length: lanes }, (): Array<{ account: number; at: number }> => [])
  const busyUntil = new Float64Array(lanes)
  const step = 1
  // A hold and a settle.
  const perStep = (2 * rate * step) / 1_000
  let owed = 0
  for (let now = 0; now < load.seconds * 1_000; now += step) {
    for (owed += perStep; owed >= 1; owed--) {
      const account = draw()
      // As a hash spreads accounts, so that hot ones meet on one server by chance.
      const hash = Math.imul(account + 1, 2_654_435_761) >>> 0
      const node = (hash + Math.floor(next() * spread)) % nodes
      const server = (hash >>> 8) % servers
      waiting[groups === "all" ? node : node * servers + server]!.push({ account, at: now })
    }
    for (let lane = 0; lane < lanes; lane++) {
      const queue = waiting[lane]!
      if (queue.length === 0 || busyUntil[lane]! > now) continue
      if (now - queue[0]!.at > TOO_LATE_MS) return false
      const group = queue.splice(0, MAX_GROUP)
      const server = all[groups === "all" ? 0 : lane % servers]!
      busyUntil[lane] = runGroup(server, now, [...new Set(group.map(({ account }) => account))], figures)
    }
  }
  return waiting.every(([first]) => first === undefined || load.seconds * 1_000 - first.at <= TOO_LATE_MS)
}

export interface Limit {
  readonly requests: number
  readonly by: string
}

/** Returns the most requests per second, and what refuses more. */
export const limitOf = (setting: Setting, load: Load = usualLoad, figures: Figures = measured): Limit => {
  const bounds: ReadonlyArray<Limit> = [
    { requests: setting.nodes * figures.nodeRequests, by: "processors of the nodes" },
    { requests: setting.redis * figures.redisDecisions, by: "Redis" },
    { requests: (setting.servers * figures.walBytesPerSecond) / figures.walBytes, by: "write-ahead log" }
  ]
  const bound = bounds.toSorted((one, other) => one.requests - other.requests)[0]!
  if (keepsUp(bound.requests, setting, load, figures)) return bound
  let [least, most] = [0, bound.requests]
  while (most - least > Math.max(200, most / 50)) {
    const middle = (least + most) / 2
    if (keepsUp(middle, setting, load, figures)) least = middle
    else most = middle
  }
  const cold = { ...load, skewed: false }
  const isHot = keepsUp(Math.min(bound.requests, least * 1.5), setting, cold, figures)
  return { requests: least, by: isHot ? "locks of hot accounts" : "processors of the databases" }
}

const settingOf = (nodes: number, redis: number, servers: number, spread = nodes): Setting => ({
  nodes,
  spread,
  redis,
  servers,
  groups: servers === 1 ? "all" : "server"
})

const settings: ReadonlyArray<Setting> = [
  ...[10, 100, 1_000].map((nodes) => settingOf(nodes, 1, 1)),
  ...[10, 100, 1_000].map((nodes) => settingOf(nodes, 16, 1)),
  ...[10, 100, 1_000].map((nodes) => settingOf(nodes, 16, 16)),
  settingOf(100, 8, 8),
  settingOf(1_000, 16, 16, 10)
]

const rounded = (requests: number) => (Math.round(requests / 100) * 100).toLocaleString("en-US")

/** The table of `docs/operate/scale.md`. */
export const table = (): string => {
  const rows = settings.map((setting) => {
    const { by, requests } = limitOf(setting)
    return `| ${setting.nodes.toLocaleString("en-US")} | ${setting.spread.toLocaleString("en-US")} | ${setting.redis} | ${setting.servers} | ${rounded(requests)} | ${by} |`
  })
  return [
    "| Nodes | An account's nodes | Redis | Databases | Requests/s | First limit |",
    "|---|---|---|---|---|---|",
    ...rows
  ].join("\n")
}
