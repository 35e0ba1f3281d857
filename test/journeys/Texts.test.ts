/** Characters that the database cannot store, in every text of every request. The gateway refuses or serves them without a 5xx. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { bearer, type Credential } from "../support/Calls.ts"
import { json, post, type Service, startService } from "../support/Service.ts"
import { textOf } from "../support/Sources.ts"

const messages = [{ role: "user", content: "hello" }]
const chat = { model: "gpt-4o-mini", messages, max_tokens: 5, user: "u", session_id: "s", stop: ["x"] }
const video = { model: "veo-3", prompt: "a cat", duration: 4, aspect_ratio: "16:9" }
const image = { model: "gpt-image-1", prompt: "a cat", size: "1024x1024", user: "u" }
const line = { url: "/chat/completions", body: { model: "gpt-4o-mini", messages, max_tokens: 5 } }

/** A valid request to each operation with a JSON body. */
const bodies: Readonly<Record<string, object>> = {
  "/chat/completions": { ...chat, metadata: { a: "b" }, safety_identifier: "i", prompt_cache_key: "k" },
  "/presets/{slug}/chat/completions": { messages, user: "u" },
  "/estimate": chat,
  "/responses": { model: "gpt-4o-mini", input: "hello", instructions: "i", user: "u", metadata: { a: "b" } },
  "/responses/input_tokens": { model: "gpt-4o-mini", input: "hello" },
  "/embeddings": { model: "text-embedding-3-small", input: ["hello"], user: "u" },
  "/rerank": { model: "rerank-2.5", query: "hello", documents: ["a", "b"] },
  "/audio/speech": { model: "tts-1", input: "hello", voice: "alloy" },
  "/images/generations": image,
  "/images": image,
  "/search": { query: "hello" },
  "/videos": video,
  "/video": video,
  "/batch": { requests: [{ custom_id: "a", ...line }] },
  "/batches": {
    input_file_id: "file_a",
    endpoint: "/v1/chat/completions",
    completion_window: "24h",
    metadata: { a: "b" }
  },
  "/management/keys": { name: "k", routing: { strategy: "cost", providers: { only: ["a"] } } },
  "/management/keys/{key_id}/rotate": { grace_seconds: 5 },
  "/management/projects": {
    name: "p",
    slug: "p",
    budget_cents: 5,
    budget_period: "daily",
    data_policy: "no_training",
    routing: { strategy: "cost", providers: { only: ["a"], order: ["b"], ignore: ["c"] } }
  },
  "/management/presets": {
    slug: "p",
    name: "n",
    description: "d",
    config: { model: "gpt-4o-mini", instructions: "i", stop: ["x"], routing: { providers: { ignore: ["c"] } } }
  },
  "/operator/plans": { name: "gold", markup_basis_points: 1_000 },
  "/operator/accounts/{account_id}/suspend": { reason: "r" },
  "/operator/accounts/{account_id}/resume": { reason: "r" },
  "/operator/accounts/{account_id}/close": { reason: "r" },
  "/operator/requests/{request_id}/refund": { reason: "r", amount_usd: 0.001 },
  "/operator/top-ups/{top_up_id}/settle": { reason: "r", amount_usd: 25 },
  "/operator/top-ups/{top_up_id}/dismiss": { reason: "r" },
  "/webhooks": { url: "https://1.1.1.1/hook", events: ["video.failed"] },
  "/console/sign-in": { email: "ann@example.com" },
  "/console/sign-in/verify": { email: "ann@example.com", sign_in_id: "A".repeat(22), code: "000000" },
  "/console/phone": { phone: "+4915112345678" },
  "/console/phone/verify": { phone: "+4915112345678", code: "000000" },
  "/console/email": { email: "ben@example.com" },
  "/console/email/verify": { email: "ben@example.com", code: "000000" },
  "/console/management-keys": { name: "n", scopes: ["usage:read"] },
  "/console/top-ups": { amount_usd: 25 },
  "/management/webhooks": { url: "https://1.1.1.1/hook", events: ["video.failed"] },
  "/chat": { model: "gpt-4o-mini", messages, max_tokens: 5, user: "u", session_id: "s" },
  "/sessions": { session_id: "s", model: "gpt-4o-mini", metadata: { a: "b", c: { d: ["e"] } } },
  "/messages": { model: "gpt-4o-mini", messages, max_tokens: 5, system: "s", metadata: { user_id: "u" } },
  "/messages/count_tokens": { model: "gpt-4o-mini", messages, system: "s" }
}

/** The operations that store every text. */
const keeping = new Set(["/sessions", "/batches", "/management/keys", "/management/projects", "/management/presets"])

/** The status of the valid body where it is no success, because a code was never sent or the object does not exist. */
const unsuccessful: Readonly<Record<string, number>> = {
  "/console/sign-in/verify": 400,
  "/console/phone/verify": 400,
  "/console/email/verify": 400,
  "/operator/accounts/{account_id}/resume": 409,
  "/operator/requests/{request_id}/refund": 404,
  "/operator/top-ups/{top_up_id}/settle": 404,
  "/operator/top-ups/{top_up_id}/dismiss": 404
}

/** Returns a copy of the value for each of its texts and field names, with the mark appended there, and the path to it. */
const spoilt = (value: unknown, mark: string, path = ""): ReadonlyArray<readonly [path: string, value: unknown]> => {
  if (typeof value === "string") return [[path, value + mark]]
  if (Array.isArray(value)) {
    return value.flatMap((one, at) =>
      spoilt(one, mark, `${path}.${at}`).map(([inner, made]) => [inner, value.with(at, made)] as const)
    )
  }
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => [
    ...spoilt(one, mark, `${path}.${name}`).map(([inner, made]) => [inner, { ...value, [name]: made }] as const),
    [`${path}.${name} (its name)`, { ...value, [name]: undefined, [name + mark]: one }] as const
  ])
}

interface Described {
  readonly requestBody?: { readonly content: object }
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
}

const spec: { readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>> } = JSON.parse(
  textOf("schemas/published/openapi.json")
)
const operations = Object.entries(spec.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, ...described }))
)

/** The statuses that a marked request may get. */
const served = [200, 202, 204, 400, 404]

const uploaded = (service: Service, key: string, name: string) =>
  Effect.promise(() => {
    const form = new FormData()
    form.append("purpose", "batch")
    form.append("file", new Blob([JSON.stringify({ custom_id: "a", method: "POST", ...line })]), name)
    return fetch(`${service.api}/files`, { method: "POST", headers: { authorization: `Bearer ${key}` }, body: form })
  })

/** Starts a gateway and creates an account with a preset, a session and a batch file. */
const caller = Effect.gen(function* () {
  const service = yield* startService()
  const { account, inferenceKey: key, managementKey } = yield* service.account(1_000)
  yield* service.preset(account.id, "mine", { model: "gpt-4o-mini" })
  yield* post(`${service.api}/sessions`, key, { session_id: "s" })
  const of = { accountId: account.id, kind: "inference", name: "spare", scopes: [] } as const
  const { id: keyId } = yield* service.keys.create({ ...of, actor: { type: "operator", id: "test" } })
  const { id: file } = yield* Effect.flatMap(uploaded(service, key, "a.jsonl"), json)
  const owner = yield* service.signedIn(account.id)
  const operatorKey = yield* service.operatorKey
  const { account: spare } = yield* service.account()
  const headersFor = (path: string): Credential => {
    if (path.includes("/console/")) return owner
    if (path.includes("/operator/")) return { ...bearer(operatorKey), "idempotency-key": "texts" }
    return bearer(path.includes("/management/") ? managementKey : key)
  }
  return { service, key, headersFor, keyId, spareId: spare.id, file: file as string }
})

describe("a null character or half a surrogate pair", () => {
  it("is tested in every operation with a JSON body", () => {
    const taking = operations.filter(
      ({ method, requestBody }) => method === "POST" && "application/json" in (requestBody?.content ?? {})
    )
    assert.sameMembers(
      taking.map(({ path }) => path.replace(/^\/api\/v1/, "")),
      Object.keys(bodies)
    )
  })

  for (const [path, body] of Object.entries(bodies)) {
    it.live(`gets no 5xx in POST ${path}`, () =>
      Effect.gen(function* () {
        const { file, headersFor, key, keyId, service, spareId } = yield* caller
        const headers = headersFor(path)
        const url = [
          ["{slug}", "mine"],
          ["{key_id}", keyId],
          ["{account_id}", spareId],
          ["{top_up_id}", "f".repeat(24)],
          ["{request_id}", "req_01ARZ3NDEKTSV4RRFFQ69G5FAV"]
        ].reduce((made, [name, value]) => made.replace(name!, value!), service.api + path)
        const good = "input_file_id" in body ? { ...body, input_file_id: file } : body
        for (const mark of ["\0", "\ud800"]) {
          for (const [at, value] of spoilt(good, mark)) {
            const response = yield* post(url, key, value, headers)
            const said = yield* Effect.promise(() => response.text())
            const name = `${JSON.stringify(mark)} in ${at}: ${response.status} ${said.slice(0, 200)}`
            assert.include(keeping.has(path) ? [400] : served, response.status, name)
          }
        }
        const response = yield* post(url, key, good, headers)
        const said = yield* Effect.promise(() => response.text())
        const expected = unsuccessful[path]
        assert.include(expected === undefined ? [200, 202] : [expected], response.status, said)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped)
    )
  }

  it.live("gets 400 in the name of a file", () =>
    Effect.gen(function* () {
      const { key, service } = yield* caller
      assert.strictEqual((yield* uploaded(service, key, "a\0.jsonl")).status, 400)
    }).pipe(Effect.scoped)
  )

  it.live("gets no 5xx in a path or a query", () =>
    Effect.gen(function* () {
      const { headersFor, service } = yield* caller
      const named = operations.filter(({ parameters = [] }) => parameters.some((one) => one.in !== "header"))
      assert.isAbove(named.length, 10)
      for (const { method, parameters = [], path } of named) {
        for (const mark of ["a%00", "%ED%A0%80"]) {
          const query = parameters.filter((one) => one.in === "query").map(({ name }) => `${name}=${mark}`)
          for (const search of ["", ...query]) {
            const url = `${service.origin}${path.replaceAll(/\{\w+\}/g, mark)}?${search}`
            const response = yield* Effect.promise(() => fetch(url, { method, headers: headersFor(path) }))
            const said = yield* Effect.promise(() => response.text())
            assert.include([...served, 415], response.status, `${method} ${url}: ${said.slice(0, 200)}`)
          }
        }
      }
    }).pipe(Effect.scoped)
  )
})
