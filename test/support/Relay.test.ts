import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { until } from "./Until.ts"
import { type Direction, startRelay } from "./Relay.ts"

/** A server that repeats every text in capitals, and what it received. */
const echo = Effect.gen(function* () {
  const heard = { text: "", ends: 0, sockets: 0 }
  const server = createServer((socket) => {
    heard.sockets++
    socket.on("error", () => undefined)
    socket.once("close", () => heard.ends++)
    socket.on("data", (chunk) => {
      heard.text += String(chunk)
      socket.write(String(chunk).toUpperCase())
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close())
  )
  return { heard, port: (server.address() as AddressInfo).port }
})

const open = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = connect(port, "127.0.0.1")
      const got = { text: "", isClosed: false }
      socket.on("error", () => undefined)
      socket.on("data", (chunk) => (got.text += String(chunk)))
      socket.once("close", () => (got.isClosed = true))
      await once(socket, "connect")
      return { socket, got }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

const holds = (what: string, condition: () => boolean) => until(what, Effect.sync(condition), "5 seconds")

/** Longer than loopback takes, to show that nothing arrives. */
const wait = Effect.sleep("100 millis")

describe("a relay", () => {
  it.live("passes on what waited while it was silent, and ends nothing meanwhile", () =>
    Effect.gen(function* () {
      const { heard, port } = yield* echo
      const relay = yield* startRelay(port)
      const { got, socket } = yield* open(relay.port)
      socket.write("one ")
      yield* holds("the answer comes", () => got.text === "ONE ")
      yield* relay.cut()
      socket.write("two ")
      const other = yield* open(relay.port)
      other.socket.write("three ")
      yield* wait
      assert.deepStrictEqual(
        [heard, got, other.got],
        [
          { text: "one ", ends: 0, sockets: 1 },
          { text: "ONE ", isClosed: false },
          { text: "", isClosed: false }
        ]
      )
      assert.strictEqual(relay.connections(), 2)
      yield* relay.heal
      yield* holds("both answers come", () => got.text === "ONE TWO " && other.got.text === "THREE ")
      assert.strictEqual(heard.sockets, 2)
    }).pipe(Effect.scoped)
  )

  for (const [direction, arrives] of [
    ["requests", false],
    ["answers", true]
  ] satisfies ReadonlyArray<[Direction, boolean]>) {
    it.live(`delays ${direction} alone when it is cut in that direction`, () =>
      Effect.gen(function* () {
        const { heard, port } = yield* echo
        const relay = yield* startRelay(port)
        const { got, socket } = yield* open(relay.port)
        socket.write("one ")
        yield* holds("the answer comes", () => got.text === "ONE ")
        yield* relay.cut(direction)
        socket.write("two ")
        yield* wait
        assert.strictEqual(heard.text, arrives ? "one two " : "one ")
        assert.strictEqual(got.text, "ONE ")
        yield* relay.heal
        yield* holds("the answer comes late", () => got.text === "ONE TWO ")
      }).pipe(Effect.scoped)
    )
  }

  it.live("passes a client's end on to the server only after healing", () =>
    Effect.gen(function* () {
      const { heard, port } = yield* echo
      const relay = yield* startRelay(port)
      const { got, socket } = yield* open(relay.port)
      socket.write("one ")
      yield* holds("the answer comes", () => got.text === "ONE ")
      yield* relay.cut()
      socket.destroy()
      yield* wait
      assert.strictEqual(heard.ends, 0)
      yield* relay.heal
      yield* holds("the server's connection ends", () => heard.ends === 1)
      yield* holds("the relay forgets the connection", () => relay.connections() === 0)
    }).pipe(Effect.scoped)
  )

  it.live("ends its clients' connections when the server ends them", () =>
    Effect.gen(function* () {
      const server = createServer((socket) => void socket.end("bye"))
      yield* Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening"))
      const relay = yield* startRelay((server.address() as AddressInfo).port)
      const { got } = yield* open(relay.port)
      yield* holds("the connection ends", () => got.isClosed)
      assert.strictEqual(got.text, "bye")
      server.close()
      yield* Effect.promise(() => once(server, "close"))
      const refused = yield* open(relay.port)
      yield* holds("a connection to no server ends", () => refused.got.isClosed)
    }).pipe(Effect.scoped)
  )
})
