import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerAfter } from "../src/App.ts"
import { Ops } from "../src/http/Ops.ts"
import { Config } from "../src/platform/Config.ts"
import { layer as telemetry } from "../src/platform/Telemetry.ts"
import { freshDatabase } from "./support/Database.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-app-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** What `/readyz` answers. */
const readiness = Effect.flatMap(Ops, ({ host, port }) =>
  Effect.promise(() => fetch(`http://${host}:${port}/readyz`).then((response) => response.status))
)

describe("the service", () => {
  it.live("is ready once what is to be there first is there", () =>
    Effect.gen(function* () {
      const settings = Config.layerFrom({
        ...{ PORT: "0", OPS_PORT: "0", HOST: "127.0.0.1", SANDBOX: "on", LOG_LEVEL: "None" },
        DATA_DIR: yield* directory,
        DATABASE_URL: yield* freshDatabase("app")
      })
      let meanwhile = 0
      const first = Layer.effectDiscard(Effect.map(readiness, (status) => void (meanwhile = status)))
      const service = layerAfter(first).pipe(
        Layer.provide(telemetry),
        Layer.provideMerge(settings),
        Layer.provide(Logger.layer([]))
      )
      const after = yield* Effect.provide(readiness, yield* Layer.build(service))
      assert.deepStrictEqual([meanwhile, after], [503, 200])
    }).pipe(Effect.scoped)
  )
})
