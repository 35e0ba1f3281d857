import { assert, describe, expect, it } from "@effect/vitest"
import { existsSync } from "node:fs"
import { limits } from "../../src/ratelimit/Limits.ts"
import { openApiText, operations, operationsText } from "../support/Published.ts"

const file = (name: string) => new URL(`../../schemas/published/${name}`, import.meta.url).pathname

// `npm run published` writes both files anew; what changed is then seen in review.
describe("the published contract", () => {
  it("has every file", () => {
    for (const name of ["openapi.json", "operations.txt"]) assert.isTrue(existsSync(file(name)), name)
  })

  it("says in openapi.json what the schemas say", () => expect(openApiText()).toMatchFileSnapshot(file("openapi.json")))

  it("lists in operations.txt every operation", () =>
    expect(operationsText()).toMatchFileSnapshot(file("operations.txt")))

  it("names each operation once, in words and dots", () => {
    const ids = operations.map(({ id }) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const id of ids) assert.match(id, /^[a-z_]+(\.[a-z_]+)*$/)
  })

  it("promises only limits that there are", () => {
    for (const { id, limit } of operations) assert.property(limits, limit, id)
  })

  it("lets everything paid be repeated under a key", () => {
    for (const { charge, id, idempotent } of operations) {
      if (charge !== "free") assert.strictEqual(idempotent, "by key", id)
    }
  })
})
