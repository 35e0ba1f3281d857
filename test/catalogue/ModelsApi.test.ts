import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, OpenApi } from "effect/http-api"
import { ModelsGroup } from "../../schemas/catalogue/Models.ts"
import { NotFoundError } from "../../schemas/Errors.ts"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { pageOf, select, toWire } from "../../src/catalogue/Listing.ts"

class Api extends HttpApi.make("test").add(ModelsGroup) {}

const Handlers = HttpApiBuilder.group(
  Api,
  "models",
  Effect.fn(function* (handlers) {
    const catalogue = yield* Catalogue
    const live = yield* LiveFigures
    const get = (id: string) => {
      const model = catalogue.find(id)
      return model === undefined
        ? new NotFoundError({ error: { message: id, type: "not_found_error", code: "not_found", param: null } })
        : Effect.succeed(toWire(catalogue, live, model))
    }
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.succeed(
          pageOf(
            select(
              catalogue.all.map((model) => toWire(catalogue, live, model)),
              query
            ),
            query
          )
        ),
      get: ({ params }) => get(params.id),
      getNamespaced: ({ params }) => get(`${params.namespace}/${params.name}`)
    })
  })
)

const App = HttpApiBuilder.layer(Api).pipe(
  Layer.provide(Handlers),
  Layer.provide(Catalogue.layerFrom({ sandbox: true, keyed: new Set(), hosts: [] })),
  Layer.provide(LiveFigures.layerMemory),
  Layer.provide(HttpServer.layerServices)
)

const fetched = (path: string): Effect.Effect<readonly [number, string]> =>
  Effect.acquireUseRelease(
    Effect.sync(() => HttpRouter.toWebHandler(App, { disableLogger: true })),
    ({ handler }) =>
      Effect.promise(async () => {
        const response = await handler(new Request(`http://test${path}`))
        return [response.status, await response.text()] as const
      }),
    ({ dispose }) => Effect.promise(dispose)
  )

const idsOf = (body: string): ReadonlyArray<string> =>
  (JSON.parse(body) as { data: ReadonlyArray<{ id: string }> }).data.map((model) => model.id)

describe("the models endpoints", () => {
  it.live("list models, filtered and sorted by query parameters", () =>
    Effect.gen(function* () {
      const [status, body] = yield* fetched("/models")
      assert.strictEqual(status, 200)
      assert.include(body, '"object":"list"')
      const [, filtered] = yield* fetched("/models?modality=embedding&max_price=0.1&sort=-price&zdr=false")
      assert.deepStrictEqual(idsOf(filtered), ["voyage-4", "text-embedding-3-small", "voyage-4-lite"])
      const [, kept] = yield* fetched("/models?zdr=true&modality=rerank")
      assert.deepStrictEqual(idsOf(kept), [])
    })
  )

  for (const query of ["sort=size", "modality=smell", "zdr=perhaps", "max_price=-1", "max_price=cheap"]) {
    it.live(`reject ${query}`, () =>
      Effect.gen(function* () {
        const [status] = yield* fetched(`/models?${query}`)
        assert.strictEqual(status, 400)
      })
    )
  }

  it.live("find an id with a slash, escaped or not, and answer 404 for unknown ids", () =>
    Effect.gen(function* () {
      for (const path of ["/models/svc%2Fauto", "/models/svc/auto", "/models/gpt-4o"]) {
        const [status, body] = yield* fetched(path)
        assert.strictEqual(status, 200, path)
        assert.include(body, path.includes("svc") ? '"id":"svc/auto"' : '"id":"gpt-4o"')
      }
      for (const path of ["/models/nothing", "/models/no/thing"]) {
        const [status] = yield* fetched(path)
        assert.strictEqual(status, 404, path)
      }
    })
  )

  it("appear once in the OpenAPI document", () => {
    assert.deepStrictEqual(Object.keys(OpenApi.fromApi(Api).paths), ["/models", "/models/{id}"])
  })
})
