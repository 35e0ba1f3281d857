/**
 * Requests that programs read differently, on raw sockets, to the gateway alone and through load balancers. Both must see the same
 * requests, and no client may get the answer to another's request.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { channel } from "node:diagnostics_channel"
import { readFileSync } from "node:fs"
import type { IncomingMessage, Server } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { balancers, programOf, startBalancer } from "../deploy/programs.ts"
import { get, json, type Service, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { type Payload, payloads } from "./Payloads.ts"

/** A request as the gateway sees it. */
interface Seen {
  readonly line: string
  readonly headers: IncomingMessage["headers"]
}

/** Records every request that the gateway on this port sees, until the scope closes. */
const watching = (port: number): Effect.Effect<ReadonlyArray<Seen>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const seen: Array<Seen> = []
        const started = channel("http.server.request.start")
        const note = (message: unknown) => {
          const { request, server } = message as { readonly request: IncomingMessage; readonly server: Server }
          const address = server.address()
          if (typeof address !== "object" || address?.port !== port) return
          seen.push({ line: `${request.method} ${request.url}`, headers: request.headers })
        }
        started.subscribe(note)
        return { seen, end: () => started.unsubscribe(note) }
      }),
      ({ end }) => Effect.sync(end)
    ),
    ({ seen }) => seen
  )

/** After this silence, in milliseconds, a connection counts as answered. Later wrong answers show at the end. */
const QUIET_MS = 80
const LONGEST_MS = 2_000

/** Sends bytes on a new connection, and returns everything that comes back. */
const exchange = (origin: string, bytes: string): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const { hostname, port } = new URL(origin)
    const socket = connect({ host: hostname, port: Number(port), localAddress: "127.0.0.5" })
    let text = ""
    const done = () => {
      clearTimeout(timer)
      socket.destroy()
      resume(Effect.succeed(text))
    }
    let timer = setTimeout(done, LONGEST_MS)
    socket.setEncoding("latin1")
    socket.on("data", (piece) => {
      text += piece
      clearTimeout(timer)
      timer = setTimeout(done, QUIET_MS)
    })
    socket.on("error", () => undefined).on("close", done)
    socket.write(bytes, "latin1", () => {
      // A request that is never complete gets no answer.
      if (text !== "") return
      clearTimeout(timer)
      timer = setTimeout(done, 4 * QUIET_MS)
    })
  })

const statusesOf = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => Number(status)).filter((status) => status >= 200)

/** Sends a request of another client, which must get its own answer. */
const victim = (origin: string, name: string, key: string) =>
  Effect.gen(function* () {
    const answer = yield* get(`${origin}/api/v1/models/${name}`, key)
    const { error } = yield* json(answer)
    return answer.status === 404 && error.message.includes(name) ? undefined : `${answer.status} ${error?.message}`
  })

const VICTIMS = 3

const afterwards = (origin: string, key: string, payload: Payload, at: number) =>
  Effect.gen(function* () {
    const faults: Array<string> = []
    for (let count = 0; count < VICTIMS; count++) {
      const fault = yield* victim(origin, `victim-${at}-${count}`, key)
      if (fault !== undefined) faults.push(`${payload.name}: another client got ${fault}`)
    }
    return faults
  })

const isHidden = ({ line }: Seen): boolean => line.includes("/hidden")
const isVictim = (line: string): boolean => line.includes("/victim-")

/** A log line of a request that the gateway refused or whose client did not wait. */
const REFUSED = /^REQ \S+ (400|-1|499|502) /

const portOf = ({ origin }: Service): number => Number(new URL(origin).port)

describe("an ambiguous request", () => {
  it.live(
    "is no more requests to the gateway than RFC 9112 allows, gets no more answers, and changes no other client's answer",
    () =>
      Effect.gen(function* () {
        const service = yield* startService()
        const { inferenceKey } = yield* service.account(1)
        const seen = yield* watching(portOf(service))
        const faults: Array<string> = []
        for (const [at, payload] of payloads.entries()) {
          const before = seen.length
          const text = yield* exchange(service.origin, payload.bytes)
          const [statuses, found] = [statusesOf(text), seen.slice(before)]
          const label = `${payload.name}: ${statuses.join()} for ${found.map(({ line }) => line.slice(0, 60)).join()}`
          if (payload.requests === 1 && found.some(isHidden)) faults.push(`${label}: the hidden request`)
          if (found.length > payload.requests) faults.push(`${label}: more requests`)
          if (statuses.length > Math.max(found.length, 1)) faults.push(`${label}: more answers`)
          if (statuses.some((status) => status >= 500)) faults.push(`${label}: a fault`)
          faults.push(...(yield* afterwards(service.origin, inferenceKey, payload, at)))
        }
        assert.deepStrictEqual(faults, [])
        assert.isAbove(payloads.length, 100)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
  )

  for (const balancer of balancers.filter(({ logged }) => logged !== undefined)) {
    const missing = programOf(balancer) === undefined
    if (missing)
      process.stderr.write(`\n***** SKIPPED: request smuggling through ${balancer.name}: it is not installed ***\n\n`)

    it.live.skipIf(missing)(`is the same requests to ${balancer.name} and to the gateway behind it`, () =>
      Effect.gen(function* () {
        const service = yield* startService({ TRUSTED_PROXIES: "127.0.0.1" })
        const { inferenceKey } = yield* service.account(1)
        const seen = yield* watching(portOf(service))
        const file = join(yield* temporaryDirectory, "log")
        const requests = () =>
          readFileSync(file, "utf8")
            .split("\n")
            .filter((line) => line.startsWith("REQ "))
        const opsPort = Number(new URL(service.ops).port)
        const origin = yield* startBalancer(balancer, [{ port: portOf(service), opsPort }], file)
        const faults: Array<string> = []
        for (const [at, payload] of payloads.entries()) {
          const [before, logged] = [seen.length, requests().length]
          const text = yield* exchange(origin, payload.bytes)
          faults.push(...(yield* afterwards(origin, inferenceKey, payload, at)))
          const isLogged = () => requests().slice(logged).filter(isVictim).length === VICTIMS
          yield* Effect.repeat(Effect.sleep("5 millis"), { until: isLogged, times: 400 })
          const lines = requests()
            .slice(logged)
            .filter((line) => !isVictim(line))
          const passed = lines.filter((line) => !/^REQ (<NOSRV>|-) /.test(line))
          const found = seen.slice(before).filter(({ line }) => !isVictim(line))
          // The gateway refuses bytes that it cannot parse before it sees a request, and closes the connection.
          const unparsed = passed.filter((line) => REFUSED.test(line)).length
          const hidden = passed.filter((line) => line.includes("/hidden")).length
          const told = [`${payload.name}: ${statusesOf(text).join()}`, ...lines, ...found.map(({ line }) => line)]
            .map((line) => line.slice(0, 100))
            .join("\n  ")
          if (found.length > passed.length || found.length < passed.length - unparsed) faults.push(`${told}: not alike`)
          if (found.filter(isHidden).length !== hidden) faults.push(`${told}: the hidden request`)
          if (statusesOf(text).length > Math.max(lines.length, 1)) faults.push(`${told}: more answers`)
        }
        assert.deepStrictEqual(faults, [])
      }).pipe(Effect.scoped)
    )
  }
})
