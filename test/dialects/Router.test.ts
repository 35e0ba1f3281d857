import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeAuto, ignoredAuto } from "../../src/dialects/Router.ts"
import { defaultAutoOptions } from "../../src/domain/Auto.ts"

type Body = Readonly<Record<string, unknown>>

const optionsOf = (body: Body) => Result.getOrThrow(decodeAuto(body))

const fieldsOf = (body: Body): ReadonlyArray<string> => {
  const result = decodeAuto(body)
  if (Result.isSuccess(result) || result.failure.reason._tag !== "ValidationError")
    assert.fail("the decoder did not reject it by field")
  return result.failure.reason.problems.map(({ field }) => field)
}

const auto = { model: "svc/auto" }

describe("the options of svc/auto", () => {
  it("have defaults when the request sets none", () => {
    for (const body of [{}, { router: null }, { router: {} }, { plugins: [] }, { plugins: [{ id: "auto-router" }] }]) {
      assert.deepStrictEqual(optionsOf(body), defaultAutoOptions)
    }
  })

  it("are read from `router`, which rejects unknown fields", () => {
    const router = { allowed_models: ["a/*"], excluded_models: ["b"], cost_tier: "xhigh", pin_model: true }
    const options = { allowedModels: ["a/*"], excludedModels: ["b"], costTier: "xhigh", pinModel: true } as const
    assert.deepStrictEqual(optionsOf({ router }), options)
    assert.deepStrictEqual(optionsOf({ router, plugins: [{ id: "auto-router", cost_tier: "low" }] }), options)
    assert.deepStrictEqual(fieldsOf({ router: { cost: 1, cost_tier: "cheap" } }), ["router.cost", "router.cost_tier"])
    assert.deepStrictEqual(fieldsOf({ router: "low" }), ["router"])
    assert.deepStrictEqual(fieldsOf({ router: { allowed_models: ["", "x".repeat(161)] } }), [
      "router.allowed_models[0]",
      "router.allowed_models[1]"
    ])
    for (const name of ["allowed_models", "excluded_models"]) {
      assert.deepStrictEqual(fieldsOf({ router: { [name]: Array.from({ length: 1_025 }, () => "a") } }), [
        `router.${name}`
      ])
    }
  })

  it("are read from OpenRouter's plugin, which may have other fields", () => {
    const plugin = {
      id: "auto-router",
      allowed_models: ["a"],
      cost_tier: null,
      cost_quality_tradeoff: 7,
      pin_model: true
    }
    assert.deepStrictEqual(optionsOf({ plugins: [plugin] }), {
      ...defaultAutoOptions,
      allowedModels: ["a"],
      pinModel: true
    })
    assert.deepStrictEqual(optionsOf({ plugins: [{ ...plugin, enabled: false }] }), defaultAutoOptions)
    assert.deepStrictEqual(fieldsOf({ plugins: [{ ...plugin, cost_tier: "x" }] }), ["plugins[0].cost_tier"])
  })

  it("are listed as ignored when they have no effect", () => {
    const router = { pin_model: true }
    assert.deepStrictEqual(ignoredAuto({ ...auto, router, session_id: "s" }), [])
    assert.deepStrictEqual(ignoredAuto({ models: ["svc/auto"], router, session_id: "s" }), [])
    assert.deepStrictEqual(ignoredAuto({ ...auto, router }), ["router.pin_model"])
    assert.deepStrictEqual(ignoredAuto({ ...auto, session_id: "s" }), ["session_id"])
    assert.deepStrictEqual(ignoredAuto({ ...auto, router: {}, session_id: "s" }), ["session_id"])
    assert.deepStrictEqual(ignoredAuto({ model: "gpt-4o", router, session_id: "s" }), ["router", "session_id"])
    assert.deepStrictEqual(ignoredAuto({ models: ["gpt-4o"], router: {} }), ["router"])
    const plugins = [{ id: "auto-router", pin_model: true }]
    assert.deepStrictEqual(ignoredAuto({ ...auto, plugins, session_id: "s" }), [])
    assert.deepStrictEqual(ignoredAuto({ ...auto, plugins }), ["plugins.pin_model"])
    assert.deepStrictEqual(ignoredAuto({ ...auto, plugins, router: {} }), ["plugins"])
    assert.deepStrictEqual(ignoredAuto({ model: "gpt-4o", plugins }), ["plugins"])
    assert.deepStrictEqual(ignoredAuto({ model: "gpt-4o" }), [])
  })
})
