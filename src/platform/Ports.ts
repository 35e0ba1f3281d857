/** Checks at startup whether the ports of the service are free. */
import { Effect, type Scope } from "effect"
import { createServer } from "node:net"
import { Config } from "./config/Config.ts"
import { cannotListen, type StartError } from "./config/Variables.ts"

interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Listens on a port until the scope closes. */
const holdPort = (prefix: "" | "OPS_", { host, port }: ListenAddress): Effect.Effect<void, StartError, Scope.Scope> =>
  Effect.suspend(() => {
    const server = createServer((socket) => socket.destroy())
    return Effect.acquireRelease(
      Effect.callback<void, StartError>((resume) => {
        server.once("error", ({ code }: NodeJS.ErrnoException) =>
          resume(Effect.fail(cannotListen(prefix, { host, port }, code)))
        )
        server.listen(port, host, () => resume(Effect.void))
      }),
      () => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
    )
  })

/**
 * Fails with a `StartError` when the service cannot listen on the public port or the ops port, or when the two are the same. It listens
 * on both briefly and frees them again, so that a start that cannot succeed fails before it creates a directory or a database.
 */
export const portsFree: Effect.Effect<void, StartError, Config> = Effect.gen(function* () {
  const { http, ops } = yield* Config
  yield* Effect.scoped(Effect.andThen(holdPort("", http), holdPort("OPS_", ops)))
})
