import { assert, describe, it } from "@effect/vitest"
import { autoRequest, Pins } from "../../src/inference/Auto.ts"
import type { Plan } from "../../src/domain/Plan.ts"
import { plainAuto } from "../../src/router/AutoRouter.ts"
import { defaultAutoOptions } from "../../src/domain/Auto.ts"
import { asked } from "../support/Conversations.ts"

const session = (
  accountId: string,
  sessionId: string | undefined,
  options: Partial<typeof defaultAutoOptions> = {}
) => ({
  accountId,
  auto: { options: { ...defaultAutoOptions, pinModel: true, ...options }, sessionId }
})

/** A plan with a choice of this model, the only part that matters to a pin. */
const chose = (id: string, decision: object | undefined = {}): Plan =>
  ({ candidates: [{ model: { id } }], decision }) as unknown as Plan

describe("pins of svc/auto", () => {
  it("are separate for each account, session and cost tier", () => {
    const pins = new Pins()
    pins.pin(session("a", "s"), chose("one"), () => true)
    assert.strictEqual(pins.of(session("a", "s")), "one")
    for (const other of [
      session("b", "s"),
      session("a", "t"),
      session("a", undefined),
      session("a", "s", { costTier: "max" }),
      session("a", "s", { pinModel: false })
    ]) {
      assert.isUndefined(pins.of(other))
    }
  })

  it("stay while a provider serves their model", () => {
    const pins = new Pins()
    pins.pin(session("a", "s"), chose("one"), () => true)
    pins.pin(session("a", "s"), chose("two"), (model) => model === "one")
    assert.strictEqual(pins.of(session("a", "s")), "one")
    pins.pin(session("a", "s"), chose("two"), (model) => model !== "one")
    assert.strictEqual(pins.of(session("a", "s")), "two")
  })

  it("record only choices of svc/auto, in sessions that request pins", () => {
    const pins = new Pins()
    pins.pin(session("a", "s"), { ...chose("one"), decision: undefined } as unknown as Plan, () => true)
    pins.pin(session("a", "s", { pinModel: false }), chose("one"), () => true)
    pins.pin(session("a", undefined), chose("one"), () => true)
    assert.isUndefined(pins.of(session("a", "s")))
  })
})

describe("the router's input", () => {
  it("comes from the rules, unless a classification exists", () => {
    const conversation = asked("Translate this into French: good evening")
    const told = autoRequest(new Pins(), { conversation }, 12, () => undefined)
    assert.deepStrictEqual(
      [told.classification.task, told.classifiedBy, told.promptTokens],
      ["translation", "regex", 12]
    )
    assert.deepStrictEqual([told.options, told.pinned], [defaultAutoOptions, undefined])
    const classified = { classification: { ...plainAuto.classification, task: "math" }, by: "llm" } as const
    const judged = autoRequest(new Pins(), { conversation, classified }, 12, () => undefined)
    assert.deepStrictEqual([judged.classification.task, judged.classifiedBy], ["math", "llm"])
  })
})
