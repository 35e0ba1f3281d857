import { assert, describe, it } from "@effect/vitest"
import { allows, scopes } from "../../src/auth/Scopes.ts"

describe("scopes", () => {
  it("allow what they name", () => {
    for (const scope of scopes) assert.isTrue(allows([scope], scope), scope)
    assert.isFalse(allows([], "keys:read"))
  })

  it("that end in `:write` include `:read` of the same resource alone", () => {
    for (const scope of scopes.filter((one) => one.endsWith(":read"))) {
      const others = scopes.filter((one) => one !== scope && one !== scope.replace(":read", ":write"))
      assert.isFalse(allows(others, scope), scope)
      assert.isTrue(allows([scope.replace(":read", ":write")], scope), scope)
    }
  })

  it("never include `:write` of a resource unless they name it", () => {
    for (const scope of scopes.filter((one) => one.endsWith(":write"))) {
      assert.isFalse(
        allows(
          scopes.filter((one) => one !== scope),
          scope
        ),
        scope
      )
    }
  })
})
