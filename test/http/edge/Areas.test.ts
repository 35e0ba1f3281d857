import { assert, describe, it } from "@effect/vitest"
import { areaOf, routedPath } from "../../../src/http/edge/Areas.ts"

describe("an area", () => {
  it("normalises paths as the router does", () => {
    for (const url of ["http://[/api/v1/console/a", "https://[/api//v1/%63onsole/a;b", "/api/v1/console/a#b?c"]) {
      assert.strictEqual(routedPath(url), "/api/v1/console/a", url)
    }
    assert.strictEqual(routedPath("/api/v1/%2563onsole/%2F//%ff"), "/api/v1/%2563onsole/%2F/%ff")
    assert.strictEqual(routedPath("/api/v1/%2563onsole/%2F"), "/api/v1/%63onsole/%2F")
  })

  it("starts at a whole segment of a path", () => {
    assert.isFalse(areaOf("/api/v1/console/keys").preflight)
    assert.isFalse(areaOf("/api/v1/console").preflight)
    assert.isTrue(areaOf("/api/v1/consoles").preflight)
    assert.isTrue(areaOf("/api/v1/management/keys").writesOnce)
    assert.deepStrictEqual(areaOf("/docs").headers, {})
  })
})
