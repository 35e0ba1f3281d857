/**
 * Bodies that are cheap to send and expensive to process. Each gets an error, costs nothing, and keeps the node busy only for a moment.
 * The test takes the operations from the contract, so it covers new ones. Each place in a body gets the next bomb of the list.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import { bearer, type Call, callsOf } from "../support/Calls.ts"
import { freshDatabase } from "../support/Database.ts"
import { start } from "../support/Process.ts"
import { operations } from "../support/Published.ts"
import { startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"

/**
 * The most processor time that the event loop may take for one request, including reading and parsing. It takes 0.1 to 0.2
 * seconds on an idle machine, and more on a busy one, which shares its caches.
 */
const MAX_BUSY_MS = 500

/** The most resident memory of the process, which usually has 300 MB. */
const MAX_RESIDENT_MB = 1_000

const nested = (open: string, close: string): string => `${open.repeat(100_000)}1${close.repeat(100_000)}`
const manyMembers = (count: number, prefix: string): string =>
  `{${Array.from({ length: count }, (_, at) => `"${prefix}${at}":1`).join()}}`
const manyOf = (item: string, bytes: number): string => {
  const count = Math.floor(bytes / (item.length + 1))
  return `[${`${item},`.repeat(count)}${item}]`
}

const LONG = 20 * 1_048_576
const BODY = 30 * 1_048_576

/** Expensive values by name. Each function makes one as JSON text. */
const shapes: Readonly<Record<string, () => string>> = {
  "100,000 arrays within each other": () => nested("[", "]"),
  "100,000 objects within each other": () => nested('{"a":', "}"),
  "a million keys": () => manyMembers(1_000_000, "k"),
  "objects of 9,999 keys each": () =>
    `[${Array.from({ length: 30 }, (_, at) => manyMembers(9_999, `k${at}_`)).join()}]`,
  "ten million empty arrays": () => manyOf("[]", BODY),
  "ten million empty objects": () => manyOf("{}", BODY),
  "millions of small objects": () => manyOf('{"a":1}', BODY),
  "millions of numbers": () => manyOf("1", BODY),
  "a number of a million digits": () => "1".repeat(1_000_000),
  "a fraction of a million digits": () => `0.${"1".repeat(1_000_000)}`
}

const texts: Readonly<Record<string, () => string>> = {
  "20 MB of letters": () => "x".repeat(LONG),
  "20 MB of digits": () => "1".repeat(LONG),
  "20 MB of spaces": () => " ".repeat(LONG),
  "20 MB of slashes": () => "/".repeat(LONG),
  "20 MB of addresses": () => "a@".repeat(LONG / 2),
  "20 MB of labels": () => `https://${"a.".repeat(LONG / 2)}`,
  "20 MB of emoji": () => "é😀".repeat(LONG / 6),
  "20 MB of an image": () => `data:image/png;base64,${"A".repeat(LONG)}`,
  "deep JSON in a text": () => nested("[", "]")
}

type Path = ReadonlyArray<string>

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Returns the paths of a body's texts and numbers. */
const leavesOf = (value: unknown, path: Path = []): ReadonlyArray<Path> =>
  isObject(value) ? Object.entries(value).flatMap(([name, one]) => leavesOf(one, [...path, name])) : [path]

const MARK = "the bomb goes here"

const marked = (value: unknown, [name, ...rest]: Path): unknown => {
  if (name === undefined) return MARK
  const members = value as Readonly<Record<string, unknown>>
  if (Array.isArray(value)) return value.with(Number(name), marked(value[Number(name)], rest))
  return { ...members, [name]: marked(members[name], rest) }
}

/** Returns a body as JSON with this JSON text at one path. */
const bodyWith = (body: object, path: Path, json: string): string =>
  JSON.stringify(marked(body, path)).replace(JSON.stringify(MARK), () => json)

interface Bomb {
  readonly name: string
  readonly call: Call
  readonly body: string
}

const inTurn = <A>(all: ReadonlyArray<A>, turn: number): A => all[turn % all.length]!

/** Returns the bombs of an operation: one as the whole body, one in an unknown field, and one in each of its values. */
function* bombsOf(id: string, call: Call, turn: number): Generator<Bomb> {
  const body = call.body ?? {}
  const places = leavesOf(body).filter((path) => path.length > 0)
  for (const [at, path] of [[], ["unknown_member"], ...places].entries()) {
    const [name, make] = inTurn(Object.entries(shapes), turn + at)
    yield { name: `${id}: ${name} as ${path.join(".") || "the body"}`, call, body: bodyWith(body, path, make()) }
  }
  for (const [at, path] of places.entries()) {
    const [name, make] = inTurn(Object.entries(texts), turn + at)
    yield { name: `${id}: ${name} as ${path.join(".")}`, call, body: bodyWith(body, path, JSON.stringify(make())) }
  }
}

/** Starts a gateway process, and a second gateway in this process on the same database. */
const stage = Effect.gen(function* () {
  const shared = {
    DATABASE_URL: yield* freshDatabase("bombs"),
    DATA_DIR: yield* temporaryDirectory,
    SECRETS_KEY: "s".repeat(40),
    SANDBOX: "on",
    RATE_LIMIT_SCALE: "100000",
    OUTBOUND_ALLOW_LOOPBACK: "1"
  }
  const service = yield* startService(shared)
  const { account, inferenceKey, managementKey } = yield* service.account()
  const credentials = {
    "inference key": bearer(inferenceKey),
    "management key": bearer(managementKey),
    session: yield* service.signedIn(account.id),
    "operator key": bearer(yield* service.operatorKey),
    "operator session": yield* service.operatorSignedIn(),
    none: {}
  }
  const { api, child } = yield* start({ ...shared, DATA_DIR: yield* temporaryDirectory })
  const status = (file: string) => readFileSync(`/proc/${child.pid}/${file}`, "utf8")
  return {
    service,
    account,
    credentials,
    api,
    /** The processor time of the thread that runs the event loop, in milliseconds. The system counts it in steps of 10. */
    busyMs: () => {
      const fields = status(`task/${child.pid}/stat`).split(") ")[1]!.split(" ")
      return 10 * (Number(fields[11]) + Number(fields[12]))
    },
    residentMb: () => Number(/VmHWM:\s+(\d+)/.exec(status("status"))?.[1]) / 1_024
  }
})

const writes = operations.flatMap((operation) => {
  const call = callsOf().get(operation.id)!
  return call.body === undefined ? [] : [{ ...operation, call }]
})

/** Operations that only count a prompt and accept any length. */
const counting: ReadonlySet<string> = new Set(["responses.input_tokens", "messages.count_tokens"])

type Stage = Effect.Success<typeof stage>

const send = (api: string, { headers, method, path }: Call, more: Record<string, string>, body: string | Uint8Array) =>
  Effect.promise(async () => {
    const init = {
      method,
      redirect: "manual",
      headers: { ...more, ...headers, "content-type": "application/json" }
    } as const
    const answer = await fetch(`${api}${path}`, { ...init, body: body as BodyInit })
    return { status: answer.status, text: await answer.text() }
  })

/** Returns the shortest time that the event loop was busy, of several tries, because other load makes it longer. */
const busyFor = <A>({ busyMs }: Stage, work: Effect.Effect<A>) =>
  Effect.gen(function* () {
    let least = Infinity
    let answer: A
    do {
      const before = busyMs()
      answer = yield* work
      const took = busyMs() - before
      if (took >= least) return { answer, least }
      least = took
    } while (least > MAX_BUSY_MS)
    return { answer, least }
  })

/** Checks that at most the answered requests were charged, and that the ledger has no faults. */
const chargedOnly = ({ account, service }: Stage, answered: number) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* service.faults, [])
    const rows = yield* service.sql<{ count: number }>`SELECT count(*)::int AS count FROM request
      WHERE account_id = ${account.id} AND settled > 0`
    assert.isAtMost(rows[0]!.count, answered)
  })

describe("a body that is expensive to process", () => {
  it.live(
    "gets a 4xx, or is ignored in an unknown field, in every operation, within bounded time and memory, uncharged",
    () =>
      Effect.gen(function* () {
        const scene = yield* stage
        const faults: Array<string> = []
        let [tried, answered, worst] = [0, 0, { name: "", least: 0 }]
        for (const [turn, { call, credential, id }] of writes.entries()) {
          for (const { body, name } of bombsOf(id, call, turn)) {
            const bytes = Buffer.from(body)
            const { answer, least } = yield* busyFor(scene, send(scene.api, call, scene.credentials[credential], bytes))
            tried++
            // A slow request is sent up to three times, and an unknown field is ignored.
            if (answer.status === 200) answered += 3
            if (least > worst.least) worst = { name, least }
            if (least > MAX_BUSY_MS) faults.push(`${name}: busy for ${least} ms`)
            const isFine = (name.includes("unknown_member") || counting.has(id)) && answer.status === 200
            if ((answer.status < 400 || answer.status >= 500) && !isFine)
              faults.push(`${name}: ${answer.status} ${answer.text.slice(0, 100)}`)
            if (answer.text.length > 10_000) faults.push(`${name}: an answer of ${answer.text.length} characters`)
          }
        }
        const resident = Math.round(scene.residentMb())
        console.log(`bombs: ${tried} bodies, at most ${worst.least} ms (${worst.name}), ${resident} MB`)
        assert.deepStrictEqual(faults, [])
        assert.isAbove(writes.length, 50)
        assert.isBelow(resident, MAX_RESIDENT_MB)
        yield* chargedOnly(scene, answered)
      }).pipe(Effect.scoped),
    1_200_000
  )

  it.live(
    "gets 413 when it becomes too large by decompression, and a 4xx when it is compressed twice",
    () =>
      Effect.gen(function* () {
        const scene = yield* stage
        const zeros = Buffer.alloc(256 * 1_048_576, "0")
        const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }
        const bombs = Object.entries({
          gzip: gzipSync(zeros),
          deflate: deflateSync(zeros),
          br: brotliCompressSync(zeros, quality),
          zstd: zstdCompressSync(zeros)
        })
        const faults: Array<string> = []
        let refused = 0
        for (const [turn, { call, credential, id }] of writes.entries()) {
          const [encoding, body] = inTurn(bombs, turn)
          const headers = { ...scene.credentials[credential], "content-encoding": encoding }
          const { answer, least } = yield* busyFor(scene, send(scene.api, call, headers, body))
          if (least > MAX_BUSY_MS) faults.push(`${id} ${encoding}: busy for ${least} ms`)
          if (answer.status === 413) refused++
          else if (answer.status < 400 || answer.status >= 500)
            faults.push(`${id} ${encoding}: ${answer.status} ${answer.text.slice(0, 100)}`)
          const twice = { ...scene.credentials[credential], "content-encoding": "gzip, gzip" }
          const { status } = yield* send(scene.api, call, twice, gzipSync(gzipSync("{}")))
          if (status < 400 || status >= 500) faults.push(`${id} in gzip twice: ${status}`)
        }
        const resident = Math.round(scene.residentMb())
        console.log(`bombs: decompressed by ${writes.length} operations, ${resident} MB`)
        assert.deepStrictEqual(faults, [])
        // An operation that does not find its path's object reads no body.
        assert.isAtLeast(refused, writes.length - 10)
        assert.isBelow(resident, MAX_RESIDENT_MB)
        yield* chargedOnly(scene, 0)
      }).pipe(Effect.scoped),
    600_000
  )
})
