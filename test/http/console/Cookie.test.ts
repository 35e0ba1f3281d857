import { assert, describe, it } from "@effect/vitest"
import { cookieOf, noCookie } from "../../../src/http/console/Cookie.ts"

describe("the cookie of a session", () => {
  it("is for the console alone, for no script, and for no request that another site makes", () => {
    assert.strictEqual(
      cookieOf("t", "http://localhost:8787"),
      "svc_session=t; Max-Age=2592000; Path=/api/v1/console; HttpOnly; SameSite=Strict"
    )
    assert.strictEqual(
      cookieOf("t", "https://example.com/a/"),
      "svc_session=t; Max-Age=2592000; Path=/a/api/v1/console; HttpOnly; SameSite=Strict; Secure"
    )
  })

  it("is taken away where it was set", () =>
    assert.strictEqual(
      noCookie("https://example.com"),
      "svc_session=; Max-Age=0; Path=/api/v1/console; HttpOnly; SameSite=Strict; Secure"
    ))
})
