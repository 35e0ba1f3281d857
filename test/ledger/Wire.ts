import { Effect } from "effect"
import { connect, createServer, type Socket } from "node:net"

/** What a connection between the ledger and its database can suffer. */
export interface Wire {
  /** The database's URL, by way of this wire. */
  readonly url: string
  /** Ends every connection, and every new one at once. */
  readonly cut: Effect.Effect<void>
  /** Lets statements through to the database but nothing back, and ends the connection instead of the next answer. */
  readonly loseNextAnswer: Effect.Effect<void>
  /** The same, and then ends every connection, and every new one at once. */
  readonly loseNextAnswerAndCut: Effect.Effect<void>
  /** Says nothing more on the connections there are, without ending them; new ones work. */
  readonly freeze: Effect.Effect<void>
  /** The same, and takes new ones to say nothing on them either. */
  readonly hang: Effect.Effect<void>
  readonly mend: Effect.Effect<void>
}

/** A wire to the database with this URL, until the scope closes. */
export const makeWire = Effect.fn("makeWire")(function* (url: string) {
  const target = new URL(url)
  const pairs = new Set<readonly [Socket, Socket]>()
  let state: "whole" | "cut" | "hung" | "losing" | "losing for good" = "whole"
  const frozen = new Set<Socket>()

  const end = (pair: readonly [Socket, Socket]) => {
    pairs.delete(pair)
    for (const socket of pair) socket.destroy()
  }
  const freezeAll = () => {
    for (const [near] of pairs) frozen.add(near)
  }
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    const pair = [near, far] as const
    pairs.add(pair)
    if (state === "cut") return end(pair)
    if (state === "hung") frozen.add(near)
    near.on("data", (bytes) => {
      if (!frozen.has(near)) far.write(bytes)
    })
    far.on("data", (bytes) => {
      if (frozen.has(near)) return
      if (state !== "losing" && state !== "losing for good") return near.write(bytes)
      const ended = state === "losing" ? [pair] : [...pairs]
      state = state === "losing" ? "whole" : "cut"
      for (const one of ended) end(one)
    })
    for (const socket of pair) {
      socket.on("error", () => end(pair))
      socket.on("close", () => end(pair))
    }
  })
  const port = yield* Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () =>
      Effect.sync(() => {
        for (const pair of pairs) end(pair)
        server.close()
      })
  )
  const through = new URL(url)
  through.hostname = "127.0.0.1"
  through.port = String(port)
  return {
    url: through.toString(),
    cut: Effect.sync(() => {
      state = "cut"
      for (const pair of pairs) end(pair)
    }),
    loseNextAnswer: Effect.sync(() => {
      state = "losing"
    }),
    loseNextAnswerAndCut: Effect.sync(() => {
      state = "losing for good"
    }),
    freeze: Effect.sync(freezeAll),
    hang: Effect.sync(() => {
      state = "hung"
      freezeAll()
    }),
    mend: Effect.sync(() => {
      state = "whole"
    })
  } satisfies Wire
})
