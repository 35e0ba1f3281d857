import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schemas/Api.ts"
import { Catalogue } from "../../catalogue/Catalogue.ts"
import { pageOf, select, toWire } from "../../catalogue/Listing.ts"
import { LiveFigures } from "../../catalogue/LiveFigures.ts"
import { failure } from "../../domain/Failure.ts"
import { respond } from "../Failures.ts"

/** `GET /models` and `GET /models/{id}`. */
export const layer = HttpApiBuilder.group(
  Api,
  "models",
  Effect.fnUntraced(function* (handlers) {
    const catalogue = yield* Catalogue
    const live = yield* LiveFigures
    const get = (id: string) =>
      Effect.sync(() => {
        const current = catalogue.current()
        const model = current.find(id)
        return model === undefined
          ? respond(failure({ _tag: "NotFound", what: "model", id }))
          : toWire(current, live, model)
      })
    return handlers.handleAll({
      list: ({ query }) =>
        Effect.sync(() => {
          const current = catalogue.current()
          const models = current.all.map((model) => toWire(current, live, model))
          return pageOf(select(models, query), query)
        }),
      get: ({ params }) => get(params.id),
      getNamespaced: ({ params }) => get(`${params.namespace}/${params.name}`)
    })
  })
)
