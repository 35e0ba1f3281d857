import { assert, describe, it } from "@effect/vitest"
import { sessionCookie } from "../../../../src/http/handlers/console/Cookie.ts"

describe("the cookie of a session", () => {
  it("is sent only to the API, never with a request of another site, and is hidden from scripts", () =>
    assert.strictEqual(
      sessionCookie("http://localhost:8787", false).of("t"),
      "svc_session=t; Max-Age=2592000; Path=/api/v1; HttpOnly; SameSite=Strict"
    ))

  it("is sent only over https when set over https, under a name that no other host of the domain can set", () => {
    const secure = "__Host-svc_session=t; Max-Age=2592000; Path=/; Secure; HttpOnly; SameSite=Strict"
    assert.strictEqual(sessionCookie("https://example.com/a/", false).of("t"), secure)
    assert.strictEqual(sessionCookie("http://localhost:8787", true).of("t"), secure)
  })

  it("is removed at the path where it was set", () => {
    assert.strictEqual(
      sessionCookie("https://example.com", false).none,
      "__Host-svc_session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict"
    )
    assert.strictEqual(
      sessionCookie("http://example.com/a", false).none,
      "svc_session=; Max-Age=0; Path=/a/api/v1; HttpOnly; SameSite=Strict"
    )
  })

  it("is found among other cookies, each time it occurs, only under its own name", () => {
    const { tokensIn } = sessionCookie("http://localhost", false)
    assert.deepStrictEqual(tokensIn(undefined), [])
    assert.deepStrictEqual(tokensIn("a=b; svc_session; xsvc_session=c; __Host-svc_session=d; =e"), [])
    assert.deepStrictEqual(tokensIn("a=b;svc_session=c=;  svc_session =d"), ["c=", "d"])
    assert.deepStrictEqual(sessionCookie("https://a.b", false).tokensIn("svc_session=c; __Host-svc_session=d"), ["d"])
  })
})
