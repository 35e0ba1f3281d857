import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  MAX_SEAL_LENGTH,
  MAX_SEALED_BYTES,
  type OwnedReasoning,
  ReasoningSeals
} from "../../src/inference/ReasoningSeals.ts"
import { seals as layer } from "../support/Seals.ts"

const block: OwnedReasoning = {
  text: "hm→😀",
  place: { text: 3, calls: 1 },
  origin: { provider: "anthropic", model: "claude-x", data: { signature: "c2ln" } }
}

const test = (name: string, body: (seals: ReasoningSeals["Service"]) => void) =>
  it.effect(name, () => Effect.map(ReasoningSeals, body).pipe(Effect.provide(layer)))

describe("ReasoningSeals", () => {
  test("open their own seals for the same account", (seals) => {
    const seal = seals.seal("one", block) ?? assert.fail("not sealed")
    assert.match(seal, /^[A-Za-z0-9+/]+=*$/)
    assert.notInclude(Buffer.from(seal, "base64").toString(), "c2ln")
    assert.deepStrictEqual(seals.openFor("one")(seal), block)
    const { data: _, ...origin } = block.origin
    const bare = { ...block, origin }
    assert.deepStrictEqual(seals.openFor("one")(seals.seal("one", bare) ?? ""), bare)
  })

  test("open nothing for another account", (seals) => {
    const seal = seals.seal("one", block) ?? ""
    assert.isUndefined(seals.openFor("two")(seal))
    assert.isUndefined(seals.openFor("")(seal))
  })

  test("open no seal that was changed, truncated or made elsewhere", (seals) => {
    const open = seals.openFor("one")
    const sealed = Buffer.from(seals.seal("one", block) ?? "", "base64")
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at]! ^= 1
      assert.isUndefined(open(changed.toString("base64")), `byte ${at}`)
      assert.isUndefined(open(sealed.subarray(0, at).toString("base64")), `${at} bytes`)
    }
    for (const other of ["", "=", "c2ln", "EqQBCkYIBxgCKkD", "é😀", "x".repeat(MAX_SEAL_LENGTH)]) {
      assert.isUndefined(open(other), other.slice(0, 20))
    }
  })

  test("seal a block up to the size limit, and open no longer seal", (seals) => {
    const sealOf = (bytes: number) => seals.seal("one", { ...block, text: "x".repeat(bytes) })
    const largest = sealOf(MAX_SEALED_BYTES - 100) ?? assert.fail("not sealed")
    assert.isAtMost(largest.length, MAX_SEAL_LENGTH)
    assert.isDefined(seals.openFor("one")(largest))
    assert.isUndefined(sealOf(MAX_SEALED_BYTES))
    // Base64 may contain whitespace, but the length limit includes it.
    assert.isUndefined(seals.openFor("one")(largest + " ".repeat(MAX_SEAL_LENGTH)))
  })
})
