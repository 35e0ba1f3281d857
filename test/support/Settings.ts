import { ConfigProvider, Effect, Layer } from "effect"
import { Config } from "../../src/platform/Config.ts"

/** The name of every variable that the service reads at its start, in the order in which it reads them. */
export const settingNames: Effect.Effect<ReadonlyArray<string>> = Effect.gen(function* () {
  const names = new Set<string>()
  const nothing = ConfigProvider.make((path) =>
    Effect.sync(() => {
      names.add(path.join("_"))
      return undefined
    })
  )
  const decoding = Layer.build(Config.layer.pipe(Layer.provide(ConfigProvider.layer(nothing))))
  yield* Effect.orDie(Effect.scoped(decoding))
  return [...names]
})
