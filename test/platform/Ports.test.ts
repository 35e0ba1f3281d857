import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:net"
import { Config } from "../../src/platform/config/Config.ts"
import { portsFree } from "../../src/platform/Ports.ts"

/** A loopback port that is in use until the scope closes. */
const taken = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const look = (settings: Record<string, string>) =>
  portsFree.pipe(
    Effect.provide(Config.layerFrom({ HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0", ...settings })),
    Effect.match({ onFailure: ({ message }) => message, onSuccess: () => "free" })
  )

describe("portsFree", () => {
  it.live("leaves the ports that it has checked free", () =>
    Effect.gen(function* () {
      const { port } = yield* Effect.scoped(taken)
      assert.strictEqual(yield* look({ PORT: String(port) }), "free")
      assert.strictEqual(yield* look({ OPS_PORT: String(port) }), "free")
    })
  )

  it.live("names the setting whose port is in use, and what to do", () =>
    Effect.gen(function* () {
      const { port } = yield* taken
      for (const name of ["PORT", "OPS_PORT"]) {
        assert.strictEqual(
          yield* look({ [name]: String(port) }),
          `${name} ${port} is in use; stop the program that uses it, or set ${name} to another port`
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("rejects the same port for both servers, and an address of another machine", () =>
    Effect.gen(function* () {
      const { port } = yield* Effect.scoped(taken)
      const both = yield* look({ PORT: String(port), OPS_PORT: String(port) })
      assert.include(both, `OPS_PORT ${port} is in use`)
      assert.include(yield* look({ OPS_HOST: "203.0.113.1" }), "OPS_HOST 203.0.113.1 is not an address of this machine")
    })
  )
})
