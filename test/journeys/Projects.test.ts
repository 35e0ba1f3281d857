/** Projects give the requests of their keys a routing and a data policy. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { freshDatabase } from "../support/Database.ts"
import { allRows } from "../support/AllRows.ts"
import { managing } from "../support/Management.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { frames, lastFrame } from "../support/Streams.ts"

const messages = [{ role: "user", content: "Hello!" }]
const chat = { model: "gpt-4o-mini", messages, max_tokens: 20 }
const videoRequest = { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9" }
const drawn = { model: "flux-dev", prompt: "a kite", size: "64x64" }
const actor = { type: "operator", id: "test" } as const

/** A request to each paid operation except the batch. */
const paid: ReadonlyArray<readonly [path: string, body: object]> = [
  ["/chat/completions", chat],
  ["/presets/mine/chat/completions", { messages }],
  ["/responses", { model: "gpt-4o-mini", input: "Hello!" }],
  ["/messages", chat],
  ["/chat", chat],
  ["/embeddings", { model: "text-embedding-3-small", input: "a cat" }],
  ["/rerank", { model: "rerank-2.5", query: "cats", documents: ["about dogs", "about cats"] }],
  ["/audio/speech", { model: "tts-1", input: "Hello!", voice: "alloy" }],
  ["/search", { query: "tea" }],
  ["/images/generations", drawn],
  ["/images", drawn],
  ["/videos", videoRequest],
  ["/video", videoRequest]
]

/** Starts a gateway and creates an account with a project and a key in it. */
const opened = (project: object, routing?: { readonly strategy: "cost" | "latency" | "quality" }) =>
  Effect.gen(function* () {
    const service = yield* startService()
    const { account, inferenceKey: outside, managementKey } = yield* service.account(1_000)
    yield* service.preset(account.id, "mine", { model: "gpt-4o-mini", max_tokens: 20 })
    const manage = managing(service, managementKey)
    const made = yield* manage("POST", "/projects", { name: "p", ...project })
    assert.strictEqual(made.status, 200, JSON.stringify(made.body))
    const projectId: string = made.body.data.id
    const of = { accountId: account.id, kind: "inference", name: "k", scopes: [], actor } as const
    const { key } = yield* service.keys.create({ ...of, projectId, routing })
    return { service, account, key, manage, outside, projectId }
  })

const routed = (service: Service, key: string, body: object, path = "/chat/completions") =>
  Effect.gen(function* () {
    const response = yield* post(`${service.api}${path}`, key, body)
    const answer = yield* json(response)
    assert.strictEqual(response.status, 200, JSON.stringify(answer))
    return answer.routing
  })

describe("the routing of a project", () => {
  it.live(
    "applies to every paid request that has no routing of its own",
    () =>
      Effect.gen(function* () {
        const { key, outside, service } = yield* opened({ routing: { strategy: "quality", allow_fallbacks: false } })
        const said = { strategy: "quality", fallbacks_allowed: false, source: "project" }
        const ask = (path: string, body: object, as = key) =>
          Effect.gen(function* () {
            const response = yield* post(`${service.api}${path}`, as, body)
            assert.strictEqual(response.status, 200, `${path}: ${yield* Effect.promise(() => response.clone().text())}`)
            return response
          })
        const checked = (path: string, body: object) =>
          Effect.gen(function* () {
            const { headers } = yield* ask(path, body)
            // The routing of a video is known when the video is ready.
            const receipt = yield* Effect.repeat(receiptOf(service, key, headers.get("x-request-id")), {
              schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "50 seconds" })),
              until: ({ routing }) => routing !== null
            })
            assert.deepInclude(receipt.routing, said, path)
          })
        for (const [path, body] of paid) yield* checked(path, body)
        const streamed = lastFrame(yield* frames(yield* ask("/chat/completions", { ...chat, stream: true })))
        assert.deepInclude(streamed.routing, said)
        const requests = [
          { url: "/chat/completions", body: chat },
          { url: "/messages", body: chat },
          { url: "/responses", body: { model: "gpt-4o-mini", input: "a" } },
          { url: "/embeddings", body: { model: "text-embedding-3-small", input: "a cat" } }
        ]
        const { data } = yield* json(yield* ask("/batch", { requests }))
        for (const { response } of data) {
          assert.deepInclude((yield* receiptOf(service, key, response.request_id)).routing, said)
        }
        assert.lengthOf(data, 4)
        const { headers } = yield* ask("/chat/completions", chat, outside)
        const other = yield* receiptOf(service, outside, headers.get("x-request-id"))
        assert.deepInclude(other.routing, { strategy: "balanced", fallbacks_allowed: true, source: "default" })
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    60_000
  )

  it.live(
    "yields field by field to its key, a preset and the request, which cannot loosen its data policy or providers",
    () =>
      Effect.gen(function* () {
        const routing = { strategy: "quality", providers: { ignore: ["azure"] }, allow_fallbacks: false }
        const { account, key, service } = yield* opened(
          { routing, data_policy: "no_training" },
          { strategy: "latency" }
        )
        yield* service.preset(account.id, "cheap", { model: "gpt-4o-mini", routing: { strategy: "cost" } })
        const rest = { fallbacks_allowed: false, data_policy: "no_training" }
        assert.deepInclude(yield* routed(service, key, chat), { ...rest, strategy: "latency", source: "project" })
        const preset = { ...rest, strategy: "cost", source: "request" }
        assert.deepInclude(yield* routed(service, key, { ...chat, model: "@cheap" }), preset)
        const own = { routing: { strategy: "balanced", data_policy: "default" } }
        assert.deepInclude(yield* routed(service, key, { ...chat, model: "@cheap", ...own }), {
          ...rest,
          strategy: "balanced",
          source: "request"
        })
        const alias = { provider: { only: ["azure"], data_collection: "allow" } }
        const refused = yield* post(`${service.api}/chat/completions`, key, { ...chat, ...alias })
        assert.strictEqual((yield* json(refused)).error.code, "no_provider_available")
        const dearer = { ...chat, routing: { max_price: { prompt: 0 } } }
        const estimated = yield* post(`${service.api}/estimate`, key, chat)
        assert.notInclude(
          (yield* json(estimated)).breakdown.map(({ provider }: { provider: string }) => provider),
          "azure"
        )
        assert.strictEqual((yield* post(`${service.api}/chat/completions`, key, dearer)).status, 503)
      }).pipe(Effect.scoped)
  )

  it.live("applies a change to the next request on the node that made it", () =>
    Effect.gen(function* () {
      const { key, manage, projectId, service } = yield* opened({})
      const { source, strategy } = yield* routed(service, key, chat)
      assert.deepStrictEqual([strategy, source], ["balanced", "default"])
      yield* manage("PATCH", `/projects/${projectId}`, { routing: { strategy: "cost" }, data_policy: "no_training" })
      assert.deepInclude(yield* routed(service, key, chat), {
        strategy: "cost",
        source: "project",
        data_policy: "no_training"
      })
      yield* manage("PATCH", `/projects/${projectId}`, { routing: null, data_policy: "default" })
      assert.deepInclude(yield* routed(service, key, chat), { strategy: "balanced", source: "default" })
      yield* manage("POST", `/projects/${projectId}/archive`)
      assert.strictEqual((yield* post(`${service.api}/chat/completions`, key, chat)).status, 401)
    }).pipe(Effect.scoped)
  )

  it.live("is never the old project's for a moved key, also on a node that has cached the key", () =>
    Effect.gen(function* () {
      const DATABASE_URL = yield* freshDatabase("projects")
      const one = yield* startService({ DATABASE_URL })
      const two = yield* startService({ DATABASE_URL })
      const { managementKey } = yield* one.account(1_000)
      const manage = managing(one, managementKey)
      const { data, key } = (yield* manage("POST", "/keys", { name: "k" })).body
      const strict = (yield* manage("POST", "/projects", { name: "p", data_policy: "no_training" })).body.data.id
      assert.deepInclude(yield* routed(two, key, chat), { data_policy: "default" })
      yield* manage("PATCH", `/keys/${data.id}`, { project_id: strict })
      const refused = yield* post(`${two.api}/chat/completions`, key, chat)
      assert.deepStrictEqual([refused.status, (yield* json(refused)).error.code], [503, "store_unavailable"])
      assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]/)
      assert.deepInclude(yield* routed(two, key, chat), { data_policy: "no_training", source: "project" })
      yield* manage("PATCH", `/keys/${data.id}`, { project_id: null })
      yield* post(`${two.api}/chat/completions`, key, chat)
      assert.deepInclude(yield* routed(two, key, chat), { data_policy: "default" })
    }).pipe(Effect.scoped)
  )
})

/** A request with a unique word, to a provider with zero retention. */
const planted = (path: string, stream = false) => {
  const word = `PLANTED${path.replaceAll("/", "-")}`
  const model = path === "/search" ? "sonar-search" : "claude-sonnet-4-5"
  const content = [{ role: "user", content: word }]
  const body = {
    "/search": { model, query: word },
    "/responses": { model, input: word, stream },
    "/chat": { model, messages: content, session_id: "talk" }
  }[path] ?? { model, messages: content, max_tokens: 50, stream }
  return { word, body }
}

describe("a project with zero_retention", () => {
  it.live(
    "keeps no content in any table, cache, session or stored answer, even when a request asks for the default policy",
    () =>
      Effect.gen(function* () {
        const { key, outside, service } = yield* opened({ data_policy: "zero_retention" })
        const paths = ["/chat/completions", "/messages", "/responses", "/chat", "/search"]
        for (const as of [key, outside]) yield* post(`${service.api}/sessions`, as, { session_id: "talk" })
        const asked = (as: string, path: string, more: object) =>
          Effect.gen(function* () {
            const { body, word } = planted(path, "stream" in more)
            const named = `${as === key ? "k" : "o"}${path}${JSON.stringify(more)}`
            const headers = { "idempotency-key": named, "x-svc-sandbox": `text=ANSWER-${word}` }
            const response = yield* post(`${service.api}${path}`, as, { ...body, ...more }, headers)
            return { response, text: yield* Effect.promise(() => response.text()) }
          })
        const ask = (as: string, path: string, more: object = {}) =>
          Effect.tap(asked(as, path, more), ({ response, text }) =>
            Effect.sync(() => assert.strictEqual(response.status, 200, `${path}: ${text}`))
          )
        for (const path of paths) {
          yield* ask(key, path)
          const lax = { routing: { data_policy: "default" } }
          if (path !== "/search") yield* ask(key, path, path === "/chat" ? lax : { ...lax, stream: true })
        }
        const batch = { requests: [{ body: planted("/chat/completions").body }] }
        assert.strictEqual(
          (yield* post(`${service.api}/batch`, key, batch, {
            "idempotency-key": "b",
            "x-svc-sandbox": "text=ANSWER-PLANTED"
          })).status,
          200
        )
        const { body } = planted("/chat")
        const again = yield* post(`${service.api}/chat`, key, { ...body, session_id: undefined })
        assert.strictEqual(again.headers.get("x-svc-cache-status"), "BYPASS")
        assert.isFalse((yield* allRows(service.databaseUrl)).includes("PLANTED"))
        // Outside the project the same content is kept, which proves that the search finds it.
        for (const path of paths) yield* ask(outside, path)
        const kept = yield* allRows(service.databaseUrl)
        for (const path of paths.slice(0, -1)) assert.isTrue(kept.includes(planted(path).word), path)
        for (const path of paths) {
          const again = yield* asked(key, path, {})
          const { code } = JSON.parse(again.text).error
          assert.deepStrictEqual([again.response.status, code], [409, "idempotency_result_unavailable"], path)
          const { response } = yield* ask(outside, path)
          assert.strictEqual(response.headers.get("idempotency-replayed"), "true", path)
        }
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("gets 400 for videos, files, batches and hosted images, which must be kept", () =>
    Effect.gen(function* () {
      const { account, key, service } = yield* opened({ data_policy: "zero_retention" })
      const before = yield* service.balance(account.id)
      const file = new FormData()
      file.append("purpose", "batch")
      file.append(
        "file",
        new Blob([JSON.stringify({ custom_id: "a", method: "POST", url: "/v1/embeddings", body: {} })]),
        "a"
      )
      const batch = {
        input_file_id: `file_${"0".repeat(44)}`,
        endpoint: "/v1/chat/completions",
        completion_window: "24h"
      }
      const refused = [
        ["/videos", yield* post(`${service.api}/videos`, key, videoRequest)],
        ["/video", yield* post(`${service.api}/video`, key, videoRequest)],
        ["/batches", yield* post(`${service.api}/batches`, key, batch)],
        [
          "/files",
          yield* Effect.promise(() =>
            fetch(`${service.api}/files`, { method: "POST", headers: { authorization: `Bearer ${key}` }, body: file })
          )
        ]
      ] as const
      for (const [path, response] of refused) {
        const { error } = yield* json(response)
        const got = [response.status, error.code, error.param]
        assert.deepStrictEqual(got, [400, "unsupported_parameter", "data_policy"], path)
      }
      const hosted = yield* post(`${service.api}/images/generations`, key, drawn)
      const { error } = yield* json(hosted)
      assert.deepStrictEqual([hosted.status, error.param], [400, "response_format"])
      assert.deepStrictEqual(yield* service.balance(account.id), before)
    }).pipe(Effect.scoped)
  )
})
