import { Context, Effect, Layer } from "effect"
import { Config } from "../config/Config.ts"

/** The URL at which clients reach this service, for the links that it returns. */
export class PublicUrl extends Context.Service<
  PublicUrl,
  {
    /** PUBLIC_URL, or else this machine with the port in use, without a trailing slash. */
    readonly base: () => string
    /** Called once the public port is known. The system may have chosen it. */
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
