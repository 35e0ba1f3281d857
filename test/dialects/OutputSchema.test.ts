import { assert, describe, it } from "@effect/vitest"
import { checkSchema, SCHEMA_MAX_BYTES, SCHEMA_MAX_LEVELS } from "../../src/dialects/OutputSchema.ts"

const nested = (levels: number): object =>
  Array.from({ length: levels - 1 }).reduce<object>((inner) => ({ not: inner }), {})

const ofBytes = (bytes: number) => ({ title: "é".repeat((bytes - `{"title":""}`.length) / 2) })

const problem = (schema: unknown) => {
  const reason = checkSchema(schema, "a.schema")?.reason
  return reason === undefined || reason._tag !== "ValidationError" ? reason : reason.problems
}

describe("an output schema", () => {
  it("may be absent, or as large and as deep as the limits allow", () => {
    for (const schema of [undefined, {}, nested(SCHEMA_MAX_LEVELS), ofBytes(SCHEMA_MAX_BYTES)]) {
      assert.isUndefined(problem(schema))
    }
  })

  const wrong: ReadonlyArray<readonly [string, unknown, string]> = [
    ["an array", [], "must be a JSON object; got an array"],
    ["true", true, "must be a JSON object; got true"],
    ["null", null, "must be a JSON object; got null"],
    ["too deep", nested(SCHEMA_MAX_LEVELS + 1), "must be at most 64 levels deep"],
    ["too deep inside a list", { anyOf: [nested(SCHEMA_MAX_LEVELS - 1)] }, "must be at most 64 levels deep"],
    ["deeper than the call stack", nested(100_000), "must be at most 64 levels deep"],
    ["too large", ofBytes(SCHEMA_MAX_BYTES + 2), "must have at most 65,536 bytes of JSON; got 65,538"]
  ]
  for (const [name, schema, message] of wrong) {
    it(`is rejected by its field when it is ${name}`, () =>
      assert.deepStrictEqual(problem(schema), [{ field: "a.schema", message }]))
  }
})
