import { assert, describe, it } from "@effect/vitest"
import { routingOf } from "../../src/auth/Routing.ts"

const none = { routing: null, project_routing: null, project_data_policy: null }

describe("the routing of a key", () => {
  it("is absent when neither the key nor its project has any", () => {
    assert.deepStrictEqual(routingOf(none), {})
    assert.deepStrictEqual(routingOf({ ...none, project_data_policy: "default" }), {})
  })

  it("is its own merged over its project's, down to single lists, prices and timeouts", () => {
    const project_routing = {
      strategy: "cost",
      allow_fallbacks: false,
      providers: { only: ["a", "b"], ignore: ["c"] },
      max_price: { prompt: 1, completion: 2 },
      timeouts: { total_ms: 3 }
    } as const
    const routing = { strategy: "latency", providers: { only: ["a"] }, max_price: { prompt: 5 } } as const
    assert.deepStrictEqual(routingOf({ ...none, project_routing }).routing, project_routing)
    assert.deepStrictEqual(routingOf({ ...none, routing }).routing, routing)
    assert.deepStrictEqual(routingOf({ ...none, routing, project_routing }).routing, {
      strategy: "latency",
      allow_fallbacks: false,
      providers: { only: ["a"], ignore: ["c"] },
      max_price: { prompt: 5, completion: 2 },
      timeouts: { total_ms: 3 }
    })
  })

  it("has the strictest data policy of the key and its project", () => {
    const policies = ["default", "no_training", "zero_retention"] as const
    for (const [a, own] of policies.entries()) {
      for (const [b, ofProject] of policies.entries()) {
        for (const [c, floor] of policies.entries()) {
          const { routing } = routingOf({
            routing: { data_policy: own },
            project_routing: { data_policy: ofProject },
            project_data_policy: floor
          })
          assert.strictEqual(routing?.data_policy, policies[Math.max(a, b, c)], [own, ofProject, floor].join())
        }
      }
    }
    assert.deepStrictEqual(routingOf({ ...none, project_data_policy: "no_training" }), {
      routing: { data_policy: "no_training" }
    })
  })
})
