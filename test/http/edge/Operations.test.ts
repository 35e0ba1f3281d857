import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { Api } from "../../../schemas/Api.ts"
import { apiRequest } from "../../../src/http/edge/ApiRequest.ts"
import { Exchange } from "../../../src/http/edge/Exchange.ts"
import { type AllHandlers, routesOf } from "../../../src/http/edge/Operations.ts"

/** Handlers that answer with their operation, and with what they know of the request. */
const telling = Object.fromEntries(
  Object.entries(Api.groups).map(([group, { endpoints }]) => [
    group,
    Object.fromEntries(
      Object.keys(endpoints).map((operation) => [
        operation,
        ({ params, query }: { readonly params: unknown; readonly query: unknown }) =>
          Effect.succeed(HttpServerResponse.jsonUnsafe({ group, operation, params, query }))
      ])
    )
  ])
) as unknown as AllHandlers

const find = routesOf(telling)

const request = () => {
  const source = new IncomingMessage(new Socket())
  return apiRequest(source, new ServerResponse(source))
}

const served = (method: string, url: string) =>
  Effect.gen(function* () {
    const to = find(method, url)
    if (to === undefined) return assert.fail(`${method} ${url} is for no operation`)
    const { body } = yield* to.route.handle(request(), yield* Exchange, to.found)
    if (body._tag !== "Uint8Array") return assert.fail("an answer without a body")
    return JSON.parse(Buffer.from(body.body).toString())
  })

const reasonOf = (method: string, url: string) => Effect.map(Effect.flip(served(method, url)), ({ reason }) => reason)

describe("the table of operations", () => {
  it.effect("maps every method and path of the contract to its handler", () =>
    Effect.gen(function* () {
      for (const [group, { endpoints }] of Object.entries(Api.groups)) {
        for (const [operation, { method, path }] of Object.entries(endpoints)) {
          const found = find(method, path.replaceAll(/:\w+/g, "a"))
          assert.strictEqual(found?.route.endpoint.path, path, `${group}.${operation}`)
          assert.strictEqual(found?.route.endpoint.method, method, `${group}.${operation}`)
        }
      }
      const { group, operation } = yield* served("POST", "/api/v1/messages")
      assert.deepStrictEqual([group, operation], ["messages", "messages"])
    })
  )

  it.effect("decodes paths and queries", () =>
    Effect.gen(function* () {
      const { params, query } = yield* served("GET", "/api/v1/models/a%20b")
      assert.deepStrictEqual([params, query], [{ id: "a b" }, undefined])
      const again = yield* served("GET", "//api/v1//requests?limit=3")
      assert.deepStrictEqual(again.query, { limit: 3 })
    })
  )

  it.effect("names the invalid field of a path or a query", () =>
    Effect.gen(function* () {
      const limit = yield* reasonOf("GET", "/api/v1/requests?limit=0&colour=red")
      if (limit._tag !== "ValidationError") return assert.fail(limit._tag)
      assert.sameMembers(
        limit.problems.map(({ field }) => field),
        ["limit", "colour"]
      )
      assert.strictEqual((yield* reasonOf("GET", "/api/v1/usage?period=1x"))._tag, "InvalidPeriod")
    })
  )

  it("serves HEAD as GET, and nothing else", () => {
    assert.strictEqual(find("HEAD", "/api/v1/models")?.route.endpoint.method, "GET")
    assert.isUndefined(find("HEAD", "/api/v1/messages"))
    assert.isUndefined(find("DELETE", "/api/v1/models"))
    assert.isUndefined(find("GET", "/api/v1/openapi.json"))
    assert.isUndefined(find("GET", "/api/v1/models/%ff"))
  })

  it("knows the form of each operation's errors", () => {
    const formOf = (method: string, url: string) => find(method, url)?.route.form
    assert.strictEqual(formOf("POST", "/api/v1/chat/completions"), "standard")
    assert.strictEqual(formOf("POST", "/api/v1/chat"), "legacy")
    assert.strictEqual(formOf("POST", "/api/v1/messages"), "messages")
  })
})
