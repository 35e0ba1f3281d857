import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ModelDetail, ModelList } from "../../../schemas/catalogue/Models.ts"
import { json, startService } from "../../support/Service.ts"
import { assertCommonHeaders } from "../envelope.ts"
import { client } from "../wire.ts"

const detail = Schema.decodeUnknownSync(ModelDetail, { onExcessProperty: "error" })
const list = Schema.decodeUnknownSync(ModelList, { onExcessProperty: "error" })

describe("the models endpoints", () => {
  it.live("answer without a key, as the contract says, for either spelling of a slash", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const send = yield* client(service.origin)
      const all = yield* send({ path: "/api/v1/models" })
      assertCommonHeaders(all.headers, "/models")
      const { data } = list(JSON.parse(all.text))
      assert.includeMembers(
        data.map(({ id }) => id),
        ["svc/auto", "gpt-4o-mini"]
      )
      for (const id of ["gpt-4o-mini", "svc/auto", "svc%2Fauto"]) {
        const got = yield* send({ path: `/api/v1/models/${id}`, headers: { authorization: "Bearer nonsense" } })
        assert.strictEqual(got.status, 200)
        assert.deepStrictEqual(
          detail(JSON.parse(got.text)),
          data.find((model) => model.id === decodeURIComponent(id))
        )
      }
    }).pipe(Effect.scoped)
  )

  it.live("list the models that match all filters", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const ask = (query: string) =>
        Effect.map(
          Effect.flatMap(
            Effect.promise(() => fetch(`${service.api}/models?${query}`)),
            json
          ),
          list
        )
      const { data } = yield* ask("modality=text&provider=openai&q=mini&sort=price")
      assert.isNotEmpty(data)
      const prices = data.map(({ pricing }) => pricing.typicalRequestUsd ?? Infinity)
      assert.deepStrictEqual(
        prices,
        prices.toSorted((a, b) => a - b)
      )
      for (const { id, modality, providers } of data) {
        assert.strictEqual(modality, "text", id)
        assert.include(
          providers.map(({ provider }) => provider),
          "openai",
          id
        )
      }
      assert.deepStrictEqual((yield* ask("q=nothing-of-that-name")).data, [])
    }).pipe(Effect.scoped)
  )
})
