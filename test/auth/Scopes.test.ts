import { assert, describe, it } from "@effect/vitest"
import { allows, scopes } from "../../src/auth/Scopes.ts"

describe("scopes", () => {
  it("allow what they are named for", () => {
    for (const scope of scopes) assert.isTrue(allows([scope], scope), scope)
    assert.isFalse(allows([], "keys:read"))
  })

  it("let whoever may write a resource read it, and no other", () => {
    for (const scope of scopes.filter((one) => one.endsWith(":read"))) {
      const others = scopes.filter((one) => one !== scope && one !== scope.replace(":read", ":write"))
      assert.isFalse(allows(others, scope), scope)
      assert.isTrue(allows([scope.replace(":read", ":write")], scope), scope)
    }
  })

  it("let nobody write who may only read", () => {
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
