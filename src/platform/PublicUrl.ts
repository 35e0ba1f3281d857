import { Context, Effect, Layer } from "effect"
import { Config } from "./Config.ts"

/** Where callers reach this service from outside, for addresses that it hands out. */
export class PublicUrl extends Context.Service<
  PublicUrl,
  {
    /** Without a slash at its end: PUBLIC_URL, else this machine by the port in use. */
    readonly base: () => string
    /** Told once the public port is known, which may have been left to the system. */
    readonly listening: (port: number) => void
  }
>()("tollgate/platform/PublicUrl") {
  static readonly layer = Layer.effect(
    PublicUrl,
    Effect.map(Config, ({ http }) => {
      let port = http.port
      return PublicUrl.of({
        base: () => http.publicUrl ?? `http://localhost:${port}`,
        listening: (actual) => {
          port = actual
        }
      })
    })
  )
}
