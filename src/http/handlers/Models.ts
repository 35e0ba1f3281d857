import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Catalogue } from "../../catalogue/Catalogue.ts"
import { pageOf, select, toWire } from "../../catalogue/Listing.ts"
import { LiveFigures } from "../../catalogue/LiveFigures.ts"
import { failure } from "../../domain/Failure.ts"
import type { Exchange } from "../edge/Exchange.ts"
import { operations } from "../edge/Operations.ts"

/** `GET /models` and `GET /models/{id}`. With a key, prices are those of its account. */
export const modelsHandlers = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const live = yield* LiveFigures
  const get = (id: string, { terms }: Exchange) =>
    Effect.suspend(() => {
      const current = catalogue.current()
      const model = current.find(id)
      return model === undefined
        ? Effect.fail(failure({ _tag: "NotFound", what: "model", id }))
        : Effect.succeed(HttpServerResponse.jsonUnsafe(toWire(current, live, model, terms)))
    })
  return operations("models", {
    list: ({ exchange: { terms }, query }) =>
      Effect.sync(() => {
        const current = catalogue.current()
        const models = current.all.map((model) => toWire(current, live, model, terms))
        return HttpServerResponse.jsonUnsafe(pageOf(select(models, query), query))
      }),
    get: ({ exchange, params }) => get(params.id, exchange),
    getNamespaced: ({ exchange, params }) => get(`${params.namespace}/${params.name}`, exchange)
  })
})
