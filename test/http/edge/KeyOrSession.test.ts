import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { upstream } from "../../providers/upstream.ts"
import { bearer, callsOf, type Credential, send, type Things } from "../../support/Calls.ts"
import { operations } from "../../support/Published.ts"
import { get, json, post, startService } from "../../support/Service.ts"
import { createResources } from "../../support/Things.ts"
import { eventually } from "../../support/Eventually.ts"

const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }

const either = operations.filter(({ credentials }) => credentials.includes("session") && credentials.length > 1)

const refusalOf = (response: Response) =>
  Effect.map(json(response), ({ error }) => [response.status, error?.code] as const)

const ask = (api: string, method: string, path: string, credential: Credential, body?: object) =>
  send(api, { method, path, ...(body === undefined ? {} : { body }) }, credential)

/** What a body says, but for its moment. */
const withoutTimes = (body: object) => ({ ...body, start_time: 0, end_time: 0 })

const shownBy = (response: Response) =>
  response.headers.get("content-type") === "application/json"
    ? Effect.map(json(response), withoutTimes)
    : Effect.promise(() => response.text())

/** Until the video and the batch of an account have ended. */
const atRest = (api: string, key: string, { batch, video }: Things) =>
  Effect.forEach([`/videos/${video}`, `/batches/${batch}`], (path) =>
    eventually(Effect.flatMap(get(api + path, key), json), ({ status }) => status === "completed")
  )

describe("an owner's session", () => {
  it("is accepted by every management operation, and by operations that read or cancel what keys created", () => {
    const reads = ["requests.list", "requests.get", "usage", "videos.list", "videos.get", "videos.content"]
    const batches = ["batches.list", "batches.get", "batches.cancel"]
    const files = ["files.list", "files.get", "files.content", "files.delete"]
    const others = new Set([...reads, ...batches, ...files])
    assert.deepStrictEqual(
      either.map(({ id }) => id),
      operations.map(({ id }) => id).filter((id) => id.startsWith("management.") || others.has(id))
    )
  })

  it.live("reads what a key of the account reads, and no cache may store it", () =>
    Effect.gen(function* () {
      const receiver = yield* upstream((_, response) => response.writeHead(204).end())
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const mine = yield* service.account(10)
      const owner = yield* service.signedIn(mine.account.id)
      const things = yield* createResources(service, mine, receiver.origin)
      const calls = callsOf(things)
      const keys = { "inference key": bearer(mine.inferenceKey), "management key": bearer(mine.managementKey) }
      yield* atRest(service.api, mine.inferenceKey, things)
      for (const { credential, id, method } of either) {
        // The clip of a video has a test of its own, because it is a redirect.
        if (method !== "GET" || id === "videos.content") continue
        const call = calls.get(id)!
        const [byKey, byOwner] = [
          yield* send(service.api, call, keys[credential as keyof typeof keys]),
          yield* send(service.api, call, owner)
        ]
        assert.strictEqual(byOwner.status, 200, id)
        assert.deepStrictEqual(yield* shownBy(byOwner), yield* shownBy(byKey), id)
        assert.strictEqual(byOwner.headers.get("cache-control"), "no-store", id)
        assert.match(byOwner.headers.get("ratelimit-policy") ?? "", /^"console_reads"/, id)
      }
    }).pipe(Effect.scoped)
  )

  it.live("reads videos, and ends batches and files, only from a page of this service", () =>
    Effect.gen(function* () {
      const receiver = yield* upstream((_, response) => response.writeHead(204).end())
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const mine = yield* service.account(10)
      const things = yield* createResources(service, mine, receiver.origin)
      yield* atRest(service.api, mine.inferenceKey, things)
      const owner = yield* service.signedIn(mine.account.id)
      const stranger = yield* service.signedIn((yield* service.account(10)).account.id)
      const clip = yield* Effect.promise(() =>
        fetch(`${service.api}/videos/${things.video}/content`, { headers: { ...owner }, redirect: "manual" })
      )
      assert.strictEqual(clip.status, 302)
      assert.strictEqual(clip.headers.get("cache-control"), "no-store")
      for (const [method, path] of [
        ["POST", `/batches/${things.batch}/cancel`],
        ["DELETE", `/files/${things.spareFile}`]
      ] as const) {
        const from = (headers: Credential) => Effect.flatMap(ask(service.api, method, path, headers), refusalOf)
        assert.deepStrictEqual(yield* from({ ...owner, "x-csrf-token": "" }), [403, "cross_site_request"], path)
        assert.deepStrictEqual(yield* from({ ...owner, origin: "https://evil.example" }), [403, "cross_site_request"])
        assert.deepStrictEqual(yield* from(stranger), [404, "not_found"], path)
        assert.strictEqual((yield* ask(service.api, method, path, owner)).status, 200, path)
      }
      assert.strictEqual((yield* ask(service.api, "GET", `/files/${things.spareFile}`, owner)).status, 404)
      for (const path of ["/videos", "/batches", "/files"]) {
        const { data } = yield* Effect.flatMap(ask(service.api, "GET", path, stranger), json)
        assert.deepStrictEqual(data, [], path)
      }
    }).pipe(Effect.scoped)
  )

  it.live("reads the requests of all keys and projects, and starts no paid request", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const owner = yield* service.signedIn(account.id)
      const project = yield* service.project(account.id, "p")
      const made = yield* ask(service.api, "POST", "/management/keys", owner, { name: "k", project_id: project.id })
      const { data, key } = yield* json(made)
      assert.strictEqual(made.status, 200)
      yield* post(`${service.api}/chat/completions`, inferenceKey, hello)
      const { request_id: id } = yield* Effect.flatMap(post(`${service.api}/chat/completions`, key, hello), json)
      const listed = yield* Effect.flatMap(ask(service.api, "GET", "/requests", owner), json)
      assert.lengthOf(listed.data, 2)
      const receipt = yield* Effect.flatMap(ask(service.api, "GET", `/requests/${id}`, owner), json)
      assert.deepStrictEqual([receipt.key_id, receipt.project_id], [data.id, project.id])
      for (const [method, path, body] of [
        ["POST", "/chat/completions", hello],
        ["POST", "/images/generations", { model: "flux-dev", prompt: "a kite" }],
        ["POST", "/videos", { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9" }],
        ["POST", "/batches", { input_file_id: "file_0", endpoint: "/v1/embeddings", completion_window: "24h" }],
        ["POST", "/files", {}],
        ["POST", "/webhooks", { url: "https://example.com", events: ["video.completed"] }],
        ["GET", "/key", undefined]
      ] as const) {
        const refused = yield* ask(service.api, method, path, owner, body)
        const { error } = yield* json(refused)
        assert.deepStrictEqual([refused.status, error.code], [401, "missing_api_key"], path)
      }
    }).pipe(Effect.scoped)
  )

  it.live("has every scope, and changes are recorded as the owner's", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account } = yield* service.account(1)
      const owner = yield* service.signedIn(account.id)
      const key = { name: "k", routing: { strategy: "cost" } }
      const { data } = yield* Effect.flatMap(ask(service.api, "POST", "/management/keys", owner, key), json)
      const [line] = yield* service.audit(account.id)
      assert.deepInclude(line, { type: "key.created", actor_type: "owner", actor_id: account.id, resource_id: data.id })
      const shown = yield* Effect.flatMap(
        ask(service.api, "GET", `/management/audit?actor_ids[]=${account.id}`, owner),
        json
      )
      assert.deepStrictEqual(shown.data[0].actor, { type: "owner", id: account.id })
    }).pipe(Effect.scoped)
  )

  it.live("is ignored when the request has a bearer token", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const [ann, bob] = [yield* service.account(3), yield* service.account(7)]
      const owner = yield* service.signedIn(ann.account.id)
      const asBob = { ...owner, ...bearer(bob.managementKey) }
      const balance = yield* Effect.flatMap(ask(service.api, "GET", "/management/balance", asBob), json)
      assert.strictEqual(balance.data.balance_usd, 7)
      // A key needs neither the header of the session nor to come from a page of this service.
      const elsewhere = { ...asBob, "x-csrf-token": "", origin: "https://app.example" }
      const made = yield* ask(service.api, "POST", "/management/keys", elsewhere, { name: "k" })
      assert.strictEqual(made.status, 200)
      assert.lengthOf(yield* service.sql`SELECT 1 FROM api_key WHERE account_id = ${ann.account.id} AND name = 'k'`, 0)
      const used = yield* ask(service.api, "GET", "/requests", { ...owner, ...bearer(bob.managementKey) })
      assert.deepStrictEqual([used.status, (yield* json(used)).error.code], [403, "wrong_key_kind"])
    }).pipe(Effect.scoped)
  )

  it.live("has its own rate limit, which no management key can use up", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "0.05" })
      const { account, managementKey } = yield* service.account(1)
      const owner = yield* service.signedIn(account.id)
      const [balance, key] = ["/management/balance", `/management/keys/${"0".repeat(24)}`]
      const often = (method: string, path: string, credential: Credential) =>
        Effect.map(
          Effect.forEach([1, 2, 3, 4, 5, 6, 7], () => ask(service.api, method, path, credential)),
          (responses) => responses.map(({ status }) => status)
        )
      assert.deepStrictEqual(yield* often("GET", balance, bearer(managementKey)), [200, 200, 200, 200, 200, 200, 429])
      assert.deepStrictEqual(yield* often("GET", balance, owner), [200, 200, 200, 200, 200, 200, 429])
      assert.deepStrictEqual(yield* often("DELETE", key, bearer(managementKey)), [404, 429, 429, 429, 429, 429, 429])
      assert.deepStrictEqual(yield* often("DELETE", key, owner), [404, 429, 429, 429, 429, 429, 429])
      assert.strictEqual((yield* ask(service.api, "GET", "/requests", owner)).status, 429)
    }).pipe(Effect.scoped)
  )

  it.live("is deleted from the browser after it ends, and is refused when two cookies name a session", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account } = yield* service.account(1)
      const owner = yield* service.signedIn(account.id)
      const other = yield* service.signedIn(account.id)
      const two = { ...owner, cookie: `${owner.cookie}; ${other.cookie}` }
      yield* ask(service.api, "DELETE", "/console/session", owner)
      for (const credential of [owner, two]) {
        for (const path of ["/management/balance", "/requests"]) {
          const refused = yield* ask(service.api, "GET", path, credential)
          assert.deepStrictEqual([refused.status, (yield* json(refused)).error.code], [401, "not_signed_in"])
          assert.match(refused.headers.get("set-cookie") ?? "", /^svc_session=; Max-Age=0; Path=\/api\/v1; /)
          assert.strictEqual(refused.headers.get("cache-control"), "no-store")
        }
      }
      const none = yield* ask(service.api, "GET", "/requests", { cookie: "theme=dark" })
      assert.deepStrictEqual([none.status, (yield* json(none)).error.code], [401, "missing_api_key"])
      assert.isNull(none.headers.get("set-cookie"))
    }).pipe(Effect.scoped)
  )
})
