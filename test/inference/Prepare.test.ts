import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { failure } from "../../src/domain/Failure.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import { Pins } from "../../src/inference/Auto.ts"
import { type Preparation, makePrepare } from "../../src/inference/Prepare.ts"
import { PromptImages } from "../../src/inference/PromptImages.ts"
import { PublicFetch } from "../../src/platform/outbound/PublicFetch.ts"
import { Router } from "../../src/router/Router.ts"
import { everyProvider } from "../support/Providers.ts"
import { asked } from "../support/Conversations.ts"

const request: Preparation = {
  chain: ["deepseek/deepseek-v3-0324"],
  policy: defaultPolicy,
  conversation: asked("Which seas touch Denmark?"),
  parameters: [],
  budgetCents: undefined,
  stream: true
}

const scene = Effect.gen(function* () {
  const catalogue = Catalogue.layerFrom({ sandbox: false, keyed: everyProvider, hosts: [] })
  const context = yield* Layer.build(
    Layer.mergeAll(
      Router.layer.pipe(Layer.provide(Layer.mergeAll(catalogue, LiveFigures.layerMemory))),
      PromptImages.layer.pipe(Layer.provide(PublicFetch.layerFrom({ allowLoopback: false })))
    )
  )
  const { images, router } = yield* Effect.all({ images: PromptImages, router: Router }).pipe(Effect.provide(context))
  const prepare = makePrepare(router, new Pins(), images, false)
  return (more: Partial<Preparation>) => prepare({ ...request, ...more })
})

// journeys/AutoRouter.test.ts tests the preparation of `svc/auto` with a classifier model.
describe("the preparation of a request", () => {
  it.effect("returns the failure that the decoder found, before planning", () =>
    Effect.gen(function* () {
      const prepare = yield* scene
      const refused = failure({ _tag: "StoreUnavailable" })
      assert.deepStrictEqual(prepare({ unplannable: refused, chain: ["no/such"] }), Result.fail(refused))
    })
  )

  it.effect("makes the hold of a stream rolling, except when the gateway checks the answer before sending it", () =>
    Effect.gen(function* () {
      const prepare = yield* scene
      const schema = { type: "object", patternProperties: { "^a": { type: "string" } }, minProperties: 3 }
      const format = { type: "json_schema", name: "seas", schema, strict: true } as const
      const streamed = Result.getOrThrow(prepare({})).estimate
      const checked = Result.getOrThrow(prepare({ conversation: { ...request.conversation, format } })).estimate
      assert.deepStrictEqual([streamed.rolling, checked.rolling], [true, false])
      assert.strictEqual(checked.upTo, checked.ceiling)
    })
  )
})
