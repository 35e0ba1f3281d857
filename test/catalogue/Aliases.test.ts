import { assert, describe, it } from "@effect/vitest"
import { aliasesOf } from "../../src/catalogue/Aliases.ts"
import { noChanges } from "../../src/catalogue/Changes.ts"
import { snapshotAt } from "../../src/catalogue/Snapshot.ts"

const options = { sandbox: true, keyed: new Set<string>(), hosts: [], overlay: [], changes: noChanges }
const { snapshot } = snapshotAt(options, Date.parse("2026-11-25T00:00:00Z"))
const alias = aliasesOf(snapshot.all)
const idOf = (name: string) => alias(name)?.id

describe("model aliases", () => {
  const cases: ReadonlyArray<readonly [name: string, id: string | undefined]> = [
    ["gpt-4o-2024-08-06", "gpt-4o"],
    ["gpt-4o-mini-2024-07-18", "gpt-4o-mini"],
    ["claude-haiku-4-5-20251001", "claude-haiku-4-5"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5-latest", "claude-sonnet-4-5"],
    ["openai/gpt-4o", "gpt-4o"],
    ["openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini"],
    ["anthropic/claude-sonnet-4.6", "claude-sonnet-4-6"],
    ["anthropic/claude-sonnet-4-6", "claude-sonnet-4-6"],
    ["claude-sonnet-4.6", "claude-sonnet-4-6"],
    ["claude-sonnet-4-6[1m]", "claude-sonnet-4-6"],
    ["anthropic/claude-sonnet-4.6[1M]", "claude-sonnet-4-6"],
    ["gpt-5-4", "gpt-5.4"],
    ["google/gemini-2.5-flash", "gemini-2.5-flash"],
    ["gemini/gemini-2.5-flash", "gemini-2.5-flash"],
    ["global.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"],
    // This release has a different price than `gpt-4o`.
    ["gpt-4o-2024-05-13", undefined],
    ["chatgpt-4o-latest", undefined],
    ["anthropic/gpt-4o", undefined],
    ["gpt-4o-minii", undefined],
    ["gpt-4o-2024", undefined],
    ["", undefined],
    ["/", undefined],
    ["x".repeat(10_000), undefined]
  ]
  for (const [name, id] of cases) {
    it(`resolve "${name.slice(0, 60)}" to ${id ?? "no model"}`, () => {
      assert.strictEqual(idOf(name), id)
      assert.strictEqual(idOf(name), id)
    })
  }

  it("never shadow the id of a model in the catalogue", () => {
    for (const { id } of snapshot.all) assert.strictEqual(snapshot.find(id)?.id, id)
  })

  it("are resolved by the catalogue's `find`", () => {
    assert.strictEqual(snapshot.find("anthropic/claude-haiku-4.5")?.id, "claude-haiku-4-5")
  })

  it("cover the default models of coding agents that the price list has", () => {
    const named = ["gpt-6-sol", "gpt-5.5", "gpt-5.4", "gpt-5.6-sol", "gpt-6-astra", "gpt-6-luna", "claude-sonnet-4-6"]
    const more = ["claude-opus-5-5", "claude-haiku-4-5-20251001", "claude-sonnet-5", "claude-opus-4-1-20250805"]
    for (const name of [...named, ...more]) assert.isDefined(snapshot.find(name), name)
  })
})
