/**
 * Many clients at once that send or read as slowly as possible. The gateway serves others meanwhile, its memory is bounded, and it
 * disconnects the slow ones at their time limits. TEST_FULL=1 opens 5,000 connections and waits for the longest limit.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { Agent, get } from "node:http"
import { connect, type Socket } from "node:net"
import { clientTimeouts } from "../../src/http/edge/Server.ts"
import { keysOf, start } from "../support/Process.ts"
import { freshDatabase } from "../support/Database.ts"
import { temporaryDirectory } from "../support/Directories.ts"

const isFull = process.env["TEST_FULL"] === "1"

const CONNECTIONS = isFull ? 5_000 : 300

/** The time between two bytes of a slow client, in milliseconds. */
const BYTE_MS = 2_000

/** The longest 95th percentile of another client's answers, in milliseconds. The usual answer takes a few milliseconds. */
const MAX_P95_MS = 500

/** The most memory for one connection, in kilobytes. */
const MAX_KB_EACH = 150
const MAX_RESIDENT_MB = 600 + (CONNECTIONS * MAX_KB_EACH) / 1_024

/** The longest time between opening a connection and the gateway accepting it, in milliseconds. */
const TAKEN_MS = isFull ? 15_000 : 5_000

/** How late the gateway may apply a limit, in milliseconds: up to two check intervals, because one check compares with the one before. */
const LATE_MS = 2 * clientTimeouts.checkMs + TAKEN_MS

/** How long a client that starts to read takes to notice that its connection is closed, in milliseconds. */
const NOTICED_MS = 10_000

/** The behaviour of a slow client. */
interface Slowness {
  readonly name: string
  /** Returns what it sends at once. */
  readonly begins: (key: string) => string
  /** What it then sends again and again. */
  readonly goesOn?: string
  readonly reads: boolean
  /** The time limit after which the gateway disconnects it, in milliseconds. */
  readonly limitMs: number
}

const head = (line: string, ...headers: ReadonlyArray<string>): string =>
  [line, "Host: test", "Content-Type: application/json", ...headers, "", ""].join("\r\n")

const post = (key: string, ...headers: ReadonlyArray<string>): string =>
  head("POST /api/v1/chat/completions HTTP/1.1", `Authorization: Bearer ${key}`, ...headers)

const slownesses: ReadonlyArray<Slowness> = [
  {
    name: "headers by the byte",
    begins: () => "GET /api/v1/models HTTP/1.1\r\nHost: test\r\nX-Slow: ",
    goesOn: "a",
    reads: true,
    limitMs: clientTimeouts.headersMs
  },
  {
    name: "a body by the byte",
    begins: (key) => post(key, "Content-Length: 100000"),
    goesOn: " ",
    reads: true,
    limitMs: clientTimeouts.requestMs
  },
  {
    name: "chunks by the byte",
    begins: (key) => post(key, "Transfer-Encoding: chunked"),
    goesOn: "1\r\n \r\n",
    reads: true,
    limitMs: clientTimeouts.requestMs
  },
  {
    name: "a refused body by the byte",
    begins: () => post("nobody", "Content-Length: 100000"),
    goesOn: " ",
    reads: true,
    limitMs: clientTimeouts.requestMs
  },
  {
    name: "no reading of pipelined answers",
    begins: () => head("GET /api/v1/openapi.json HTTP/1.1").repeat(20),
    reads: false,
    limitMs: clientTimeouts.stalledMs
  }
]

interface Client {
  readonly slowness: Slowness
  readonly socket: Socket
  readonly openedAt: number
  closedAt: number | undefined
}

const opened = async (port: number, key: string, slowness: Slowness): Promise<Client> => {
  const socket = connect({ port, host: "127.0.0.1" })
  const client: Client = { slowness, socket, openedAt: performance.now(), closedAt: undefined }
  socket.on("error", () => undefined)
  socket.on("close", () => (client.closedAt = performance.now()))
  if (slowness.reads) socket.resume()
  else socket.pause()
  await once(socket, "connect")
  socket.write(slowness.begins(key))
  return client
}

/** Opens all connections in groups, and then sends on each of them until it is closed. */
const slowClients = (port: number, key: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const clients: Array<Client> = []
      while (clients.length < CONNECTIONS) {
        const some = Array.from({ length: Math.min(100, CONNECTIONS - clients.length) }, (_, at) =>
          opened(port, key, slownesses[(clients.length + at) % slownesses.length]!)
        )
        clients.push(...(await Promise.all(some)))
      }
      const timer = setInterval(() => {
        for (const { slowness, socket } of clients) {
          if (slowness.goesOn !== undefined && socket.writable) socket.write(slowness.goesOn)
        }
      }, BYTE_MS)
      return { clients, timer }
    }),
    ({ clients, timer }) =>
      Effect.sync(() => {
        clearInterval(timer)
        for (const { socket } of clients) socket.destroy()
      })
  )

/** Measures requests of another client until the effect is interrupted. */
const timesOf = (api: string, times: Array<number>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new Agent({ keepAlive: true })),
    (agent) =>
      Effect.forever(
        Effect.delay(
          Effect.callback<void>((resume) => {
            const began = performance.now()
            const done = (ms: number) => {
              times.push(ms)
              resume(Effect.void)
            }
            get(`${api}/models/gpt-4o-mini`, { agent }, (response) => {
              response.resume()
              response.on("end", () => done(response.statusCode === 200 ? performance.now() - began : Infinity))
            }).on("error", () => done(Infinity))
          }),
          "20 millis"
        )
      ),
    (agent) => Effect.sync(() => agent.destroy())
  )

const at = (times: ReadonlyArray<number>, part: number): number =>
  Math.round(times.toSorted((a, b) => a - b)[Math.floor(part * (times.length - 1))] ?? Infinity)

const filesOf = (pid: number | undefined): number =>
  Number(/^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid ?? "self"}/limits`, "utf8"))?.[1])

describe("clients that send or read slowly", () => {
  it.live(
    "do not delay others, take bounded memory, and are disconnected at their time limits",
    () =>
      Effect.gen(function* () {
        const service = yield* start({
          DATABASE_URL: yield* freshDatabase("slow"),
          DATA_DIR: yield* temporaryDirectory,
          SANDBOX: "on"
        })
        const { pid } = service.child
        for (const files of [filesOf(pid), filesOf(undefined)])
          assert.isAbove(files, CONNECTIONS + 500, "ulimit -n must be higher for this test")
        const { inference } = keysOf(service.greeting)
        const times: Array<number> = []
        yield* Effect.forkScoped(timesOf(service.api, times))
        const { clients } = yield* slowClients(service.port, inference)
        const limits = slownesses.filter(({ limitMs }) => isFull || limitMs <= clientTimeouts.headersMs)
        const waitMs = Math.max(...limits.map(({ limitMs }) => limitMs)) + LATE_MS
        const waiting = () => {
          const left = clients.filter(({ closedAt, slowness }) => limits.includes(slowness) && closedAt === undefined)
          // A socket that is not read does not notice its end. One that the gateway has not closed gets the rest, and stays open.
          for (const { openedAt, slowness, socket } of left) {
            if (!slowness.reads && performance.now() - openedAt > slowness.limitMs + LATE_MS) socket.resume()
          }
          return left.length
        }
        yield* Effect.repeat(Effect.sleep("200 millis"), { until: () => waiting() === 0, times: waitMs / 200 })

        const resident = Math.round(
          Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024
        )
        const [p50, p95, most] = [at(times, 0.5), at(times, 0.95), at(times, 1)]
        console.log(
          `slow clients: ${clients.length} connections; ${times.length} requests of others took p50 ${p50} ms, p95 ${p95} ms, at most ${most} ms; ${resident} MB`
        )
        assert.isAbove(times.length, 100)
        assert.isBelow(p95, MAX_P95_MS)
        assert.isBelow(resident, MAX_RESIDENT_MB)
        for (const { limitMs, name, reads } of limits) {
          const lasted = clients
            .filter(({ slowness }) => slowness.name === name)
            .map(({ closedAt = Infinity, openedAt }) => closedAt - openedAt)
          console.log(
            `slow clients: ${name} lasted ${Math.round(at(lasted, 0) / 1_000)} to ${Math.round(at(lasted, 1) / 1_000)} s`
          )
          assert.isBelow(at(lasted, 1), limitMs + LATE_MS + (reads ? 0 : NOTICED_MS), name)
        }
      }).pipe(Effect.scoped),
    600_000
  )
})
