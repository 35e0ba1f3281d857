/** What all reads and writes of the management API have in common, at one resource of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { text as read } from "node:stream/consumers"
import { bearer, callsOf, send } from "../../../support/Calls.ts"
import { managing, refusal } from "../../../support/Management.ts"
import { json, post, startService } from "../../../support/Service.ts"

const call = (operation: string) => callsOf().get(operation)!

describe("writes of the management API", () => {
  it.live("run once per idempotency key, and replay the same response", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account()
      const headers = { ...bearer(managementKey), "idempotency-key": "the-same" }
      const create = send(service.api, call("management.projects.create"), headers)
      const first = yield* create
      assert.isNull(first.headers.get("idempotency-replayed"))
      const again = yield* create
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.deepStrictEqual(yield* json(again), yield* json(first))
      const listed = yield* send(service.api, call("management.projects.list"), bearer(managementKey))
      assert.lengthOf((yield* json(listed)).data, 1)
    }).pipe(Effect.scoped)
  )

  it.live("show a secret once: a repeat gets an error that the answer was not stored", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account()
      const headers = { ...bearer(managementKey), "idempotency-key": "the-same" }
      const create = send(service.api, call("management.keys.create"), headers)
      const { data, key } = yield* Effect.flatMap(create, json)
      assert.match(key, /^svc_sk_/)
      const again = yield* create
      assert.strictEqual(again.status, 409)
      const { error, request_id } = yield* json(again)
      assert.strictEqual(error.code, "idempotency_result_unavailable")
      assert.match(error.message, /audit log/)
      const logged = yield* send(service.api, call("management.audit.list"), bearer(managementKey))
      assert.strictEqual((yield* json(logged)).data[0].request_id, request_id)
      const listed = yield* send(service.api, call("management.keys.list"), bearer(managementKey))
      const ids = (yield* json(listed)).data.map(({ id }: { readonly id: string }) => id)
      assert.lengthOf(ids, 2)
      assert.include(ids, data.id)
    }).pipe(Effect.scoped)
  )

  it.live("forbid caches to store any answer, also of the edge, and clients to retry a failed one", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account()
      const write = call("management.projects.create")
      const good = bearer(managementKey)
      const answers = yield* Effect.all([
        send(service.api, write, good),
        send(service.api, { ...write, body: {} }, good),
        send(service.api, write, bearer(inferenceKey)),
        send(service.api, write),
        send(service.api, { method: "PUT", path: "/management/projects" }, good),
        send(service.api, { method: "POST", path: "/management/nothing" }, good),
        send(service.api, call("management.projects.get"), good)
      ])
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 400, 403, 401, 405, 404, 404]
      )
      for (const answer of answers) {
        assert.strictEqual(answer.headers.get("cache-control"), "no-store", String(answer.status))
        if (answer.status >= 400) assert.strictEqual(answer.headers.get("x-should-retry"), "false")
      }
    }).pipe(Effect.scoped)
  )

  it.live("without a body reject one, and change nothing", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { account, managementKey } = yield* service.account()
      const ask = managing(service, managementKey)
      const project = (yield* ask("POST", "/projects", { name: "p" })).body.data.id
      yield* service.preset(account.id, "short", { model: "gpt-4o-mini" })
      const webhook = (yield* ask("POST", "/webhooks", { url: "http://127.0.0.1:9/", events: ["video.failed"] })).body
        .data.id
      const before = yield* service.audit(account.id)
      const paths = [
        `/projects/${project}/archive`,
        "/presets/short/versions/1/activate",
        `/webhooks/${webhook}/rotate-secret`,
        `/webhooks/${webhook}/test`,
        `/webhooks/${webhook}/deliveries/${webhook}/redeliver`
      ]
      for (const path of paths) {
        const refused = yield* ask("POST", path, { dry_run: true })
        assert.deepStrictEqual(refusal(refused), [400, "validation_error", "dry_run"], path)
        assert.deepStrictEqual(refusal(yield* ask("POST", path, "{")), [400, "invalid_json", null], path)
        for (const body of [[], 1]) {
          assert.deepStrictEqual(refusal(yield* ask("POST", path, body)), [400, "validation_error", "body"], path)
        }
      }
      assert.deepStrictEqual(yield* service.audit(account.id), before)
      assert.strictEqual((yield* ask("GET", `/projects/${project}`)).body.data.status, "active")
      for (const body of [undefined, {}]) {
        assert.strictEqual((yield* ask("POST", `/webhooks/${webhook}/rotate-secret`, body)).status, 200)
        assert.strictEqual((yield* ask("POST", `/projects/${project}/archive`, body)).status, 200)
      }
      const key = (yield* ask("GET", "/keys")).body.data[0].id
      for (const body of [[], 1]) {
        assert.deepStrictEqual(refusal(yield* ask("POST", `/keys/${key}/rotate`, body)), [
          400,
          "validation_error",
          "body"
        ])
      }
    }).pipe(Effect.scoped)
  )

  it.live("that delete reject a body, and delete nothing", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { account, inferenceKey, managementKey } = yield* service.account()
      const owner = yield* service.signedIn(account.id)
      yield* service.preset(account.id, "short", { model: "gpt-4o-mini" })
      const ask = managing(service, managementKey)
      const key = (yield* ask("GET", "/keys")).body.data[0].id
      const url = { url: "http://127.0.0.1:9/", events: ["video.failed"] }
      const webhook = (yield* ask("POST", "/webhooks", url)).body.data.id
      const before = yield* service.audit(account.id)
      const remove = (path: string, headers: Record<string, string>, body: unknown) =>
        Effect.gen(function* () {
          const type = body === undefined ? {} : { "content-type": "application/json" }
          const asked = { method: "DELETE", headers: { ...headers, ...type }, body: JSON.stringify(body) }
          const response = yield* Effect.promise(() => fetch(`${service.api}${path}`, asked))
          return { status: response.status, headers: response.headers, body: yield* json(response) }
        })
      const paths = [
        [`/webhooks/${webhook}`, { authorization: `Bearer ${inferenceKey}` }],
        [`/management/webhooks/${webhook}`, { authorization: `Bearer ${managementKey}` }],
        ["/management/presets/short", { authorization: `Bearer ${managementKey}` }],
        [`/management/keys/${key}`, { authorization: `Bearer ${managementKey}` }],
        [`/console/management-keys/${key}`, owner],
        ["/console/session", owner],
        ["/console/sessions", owner]
      ] as const
      for (const [path, headers] of paths) {
        const refused = yield* remove(path, headers, { version: 3 })
        assert.deepStrictEqual(refusal(refused), [400, "validation_error", "version"], path)
        assert.deepStrictEqual(refusal(yield* remove(path, headers, [])), [400, "validation_error", "body"], path)
      }
      assert.deepStrictEqual(yield* service.audit(account.id), before)
      assert.strictEqual((yield* remove("/management/presets/short", paths[2][1], {})).status, 200)
      assert.strictEqual((yield* remove(`/management/keys/${key}`, paths[3][1], undefined)).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("with an optional body accept an empty chunked one, as proxies send it", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account()
      const ask = managing(service, managementKey)
      const key = (yield* ask("GET", "/keys")).body.data[0].id
      const chunked = (method: string, path: string, text: string) =>
        Effect.promise(async () => {
          const headers = { ...bearer(managementKey), "transfer-encoding": "chunked" }
          const asked = request(`${service.api}/management${path}`, { method, headers }).end(text)
          const [response] = (await once(asked, "response")) as [IncomingMessage]
          const body = JSON.parse(await read(response))
          return { status: response.statusCode ?? 0, headers: new Headers(), body }
        })
      const rotated = yield* chunked("POST", `/keys/${key}/rotate`, "")
      assert.strictEqual(rotated.status, 200)
      const path = `/keys/${rotated.body.data.id}`
      assert.deepStrictEqual(refusal(yield* chunked("DELETE", path, " ")), [400, "invalid_json", null])
      assert.strictEqual((yield* chunked("DELETE", path, "")).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("reject query parameters, and change nothing", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { account, inferenceKey, managementKey } = yield* service.account()
      yield* service.preset(account.id, "short", { model: "gpt-4o-mini" })
      const project = (yield* service.project(account.id, "p")).id
      const ask = managing(service, managementKey)
      const key = (yield* ask("GET", "/keys")).body.data[0].id
      const before = yield* service.audit(account.id)
      const writes = [
        ["DELETE", "/presets/short?version=3", undefined, "version"],
        ["POST", `/projects/${project}/archive?dry_run=true&x=1`, undefined, "dry_run"],
        ["POST", `/keys/${key}/rotate?grace_seconds=60`, undefined, "grace_seconds"],
        ["POST", "/keys?budget_cents=5", { name: "k" }, "budget_cents"],
        ["PATCH", `/projects/${project}?slug=q`, { name: "q" }, "slug"]
      ] as const
      for (const [method, path, body, param] of writes) {
        assert.deepStrictEqual(refusal(yield* ask(method, path, body)), [400, "validation_error", param], path)
      }
      const url = { url: "http://127.0.0.1:9/", events: ["video.failed"] }
      const registered = yield* post(`${service.api}/webhooks?status=disabled`, inferenceKey, url)
      assert.strictEqual(registered.status, 400)
      assert.deepStrictEqual(yield* service.audit(account.id), before)
      assert.strictEqual((yield* ask("DELETE", "/presets/short?")).status, 200)
    }).pipe(Effect.scoped)
  )
})
