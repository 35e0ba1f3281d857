/** Decodes every answer of a running gateway with its schema of the contract, without unknown fields. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { KeyReport } from "../schemas/account/Key.ts"
import { RequestList, RequestReceipt } from "../schemas/account/Requests.ts"
import { UsageReport } from "../schemas/account/Usage.ts"
import {
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
  WebhookList,
  WebhookTest
} from "../schemas/account/Webhooks.ts"
import { KeyRevoked, ManagedKeyList, ManagedKeyResult, ManagedKeyWithSecret } from "../schemas/management/Keys.ts"
import { ModelDetail, ModelList } from "../schemas/catalogue/Models.ts"
import { TopUpReport } from "../schemas/console/TopUps.ts"
import { ErrorBody } from "../schemas/Errors.ts"
import { RequestId } from "../schemas/Ids.ts"
import { ChatCompletion, ChatCompletionChunk } from "../schemas/inference/ChatCompletions.ts"
import { BatchList } from "../schemas/inference/Batch.ts"
import { BatchObject, BatchPage } from "../schemas/inference/Batches.ts"
import { EmbeddingsList } from "../schemas/inference/Embeddings.ts"
import { FileDeleted, FileList, FileObject } from "../schemas/inference/Files.ts"
import { ImageList } from "../schemas/inference/Images.ts"
import { RerankResult } from "../schemas/inference/Rerank.ts"
import { LegacyErrorBody } from "../schemas/LegacyErrors.ts"
import { MessagesErrorBody } from "../schemas/MessagesErrors.ts"
import { CostEstimate } from "../schemas/inference/Estimate.ts"
import { ResponseObject, ResponsesTokens } from "../schemas/inference/ResponsesAnswer.ts"
import { ResponsesStreamEvent } from "../schemas/inference/ResponsesEvents.ts"
import { SearchResponse } from "../schemas/inference/Search.ts"
import { LegacyVideoJob, VideoJob } from "../schemas/inference/Videos.ts"
import { speechTypes } from "../schemas/inference/Speech.ts"
import { LegacyChatCompletion } from "../schemas/inference/LegacyChat.ts"
import { Session, SessionExport } from "../schemas/inference/Sessions.ts"
import { MessagesAnswer, MessagesStreamEvent, MessagesTokenCount } from "../schemas/inference/MessagesAnswer.ts"
import { encodeMessagesError } from "../src/dialects/messages/MessagesFailure.ts"
import { table } from "../src/http/FailureRows.ts"
import { openApiText, operations } from "./support/Published.ts"
import { bearer, callsOf, send } from "./support/Calls.ts"
import { type Postbox, postbox } from "./support/Postbox.ts"
import { takeAway } from "./support/Outage.ts"
import { managing } from "./support/Management.ts"
import { get, json, post, type Service, startService } from "./support/Service.ts"
import { eventsOf, frames } from "./support/Streams.ts"
import { attended } from "./support/Things.ts"
import { type Twilio, twilio } from "./support/Twilio.ts"
import { upstream } from "./providers/upstream.ts"
import { eventually } from "./support/Eventually.ts"

const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
const asked = { model: "gpt-4o-mini", input: "Hello!" }
const message = { ...hello, max_tokens: 400 }
const spoken = { model: "tts-1", input: "Hello!", voice: "alloy" }
const sought = { query: "tea" }
const drawn = { model: "flux-dev", prompt: "a kite", size: "64x64" }
const weather = { type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }
const vectors = { model: "text-embedding-3-small", input: ["a cat", "a dog"] }
const ranking = { model: "rerank-2.5", query: "cats", documents: ["about dogs", "about cats"] }
const videoRequest = { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9" }
const absent = "req_00000000000000000000000000"
const hook = { url: "http://127.0.0.1:9/", events: ["video.completed"] }
const nothing = "0".repeat(24)

const decoder =
  <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) =>
  (value: unknown): S["Type"] => {
    try {
      return Schema.decodeUnknownSync(schema)(value, { onExcessProperty: "error", errors: "all" })
    } catch (error) {
      return assert.fail(`${error instanceof Error ? error.message : String(error)}\nin ${JSON.stringify(value)}`)
    }
  }

const decode = {
  completion: decoder(ChatCompletion),
  chunk: decoder(ChatCompletionChunk),
  estimate: decoder(CostEstimate),
  response: decoder(ResponseObject),
  responseEvent: decoder(ResponsesStreamEvent),
  responseTokens: decoder(ResponsesTokens),
  embeddings: decoder(EmbeddingsList),
  rerank: decoder(RerankResult),
  receipts: decoder(RequestList),
  receipt: decoder(RequestReceipt),
  usage: decoder(UsageReport),
  key: decoder(KeyReport),
  managedKey: decoder(ManagedKeyResult),
  managedKeyWithSecret: decoder(ManagedKeyWithSecret),
  managedKeys: decoder(ManagedKeyList),
  keyRevoked: decoder(KeyRevoked),
  webhook: decoder(WebhookEndpoint),
  webhookWithSecret: decoder(WebhookEndpointWithSecret),
  webhooks: decoder(WebhookList),
  webhookDelivery: decoder(WebhookDelivery),
  webhookDeliveries: decoder(WebhookDeliveryList),
  webhookTest: decoder(WebhookTest),
  models: decoder(ModelList),
  model: decoder(ModelDetail),
  error: decoder(ErrorBody),
  legacyCompletion: decoder(LegacyChatCompletion),
  legacyError: decoder(LegacyErrorBody),
  session: decoder(Session),
  sessionExport: decoder(SessionExport),
  message: decoder(MessagesAnswer),
  messageEvent: decoder(MessagesStreamEvent),
  tokenCount: decoder(MessagesTokenCount),
  search: decoder(SearchResponse),
  batch: decoder(BatchList),
  batchObject: decoder(BatchObject),
  batchPage: decoder(BatchPage),
  file: decoder(FileObject),
  fileList: decoder(FileList),
  fileDeleted: decoder(FileDeleted),
  images: decoder(ImageList),
  messagesError: decoder(MessagesErrorBody),
  video: decoder(VideoJob),
  legacyVideo: decoder(LegacyVideoJob),
  topUp: decoder(TopUpReport),
  requestId: decoder(RequestId)
}

const document = JSON.parse(openApiText())

const wanted = { endpoint: "/v1/chat/completions", completion_window: "24h" }

const upload = callsOf().get("files.create")!

const filed = (service: Service, key: string) =>
  Effect.map(Effect.flatMap(send(service.api, upload, bearer(key)), json), (file) => decode.file(file))

const patch = (url: string, key: string, body: object) => send(url, { method: "PATCH", path: "", body }, bearer(key))

const remove = (url: string, key: string) => send(url, { method: "DELETE", path: "" }, bearer(key))

const spareKey = (service: Service, accountId: string) =>
  service.keys.create({
    accountId,
    kind: "inference",
    name: "spare",
    scopes: [],
    actor: { type: "operator", id: "test" }
  })

/** Submits a video with this key, and waits until it has ended, with or without a file. */
const endedVideo = (service: Service, key: string, path: string, steering: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const sold = yield* Effect.flatMap(post(`${service.api}${path}`, key, videoRequest, steering), json)
    const look = Effect.flatMap(get(`${service.api}/videos/${sold.id}`, key), json)
    const ended = yield* eventually(look, ({ status }) => status === "completed" || status === "failed")
    return { sold, ended }
  })

/** Registers a webhook of this account, and waits for the first attempt of a delivery to it. By default no server listens at its URL. */
const tried = (service: Service, accountId: string, url = "http://127.0.0.1:9/") =>
  Effect.gen(function* () {
    const { webhooks } = service
    const actor = { type: "operator", id: "test" } as const
    const { endpoint } = yield* webhooks.register({ accountId, url, events: ["video.failed"], actor })
    const event = { id: "evt_1", accountId, type: "video.failed", data: {}, createdAt: new Date() } as const
    yield* webhooks.publish(event)
    const page = { limit: 1, cursor: undefined }
    const look = Effect.map(webhooks.deliveries(accountId, endpoint.id, page), ({ rows }) => rows)
    const [delivery] = yield* eventually(look, ([one]) => one?.attempts === 1)
    return { webhook: endpoint.id, delivery: delivery!.id }
  })

/** Returns the calls that need a code, with a code that was sent. */
const coded = (service: Service, accountId: string, mail: Postbox, phones: Twilio) =>
  Effect.gen(function* () {
    const owner = yield* service.signedIn(accountId)
    const withCode = (id: string, begin: string, codeFor: (body: Record<string, string>) => string) =>
      Effect.gen(function* () {
        const call = callsOf().get(id)!
        const { code: _, sign_in_id: id_, ...body } = call.body as Record<string, string>
        const sent = yield* Effect.flatMap(send(service.api, { method: "POST", path: begin, body }, owner), json)
        const asked = id_ === undefined ? {} : { sign_in_id: sent.sign_in_id }
        return [id, { ...call, body: { ...body, ...asked, code: codeFor(body) } }] as const
      })
    return [
      yield* withCode("console.sign_in.verify", "/console/sign-in", ({ email }) => mail.codeFor(email!)),
      yield* withCode("console.phone.verify", "/console/phone", ({ phone }) => phones.codeFor(phone!))
    ]
  })

const checkHeaders = (response: Response, what: string) => {
  decode.requestId(response.headers.get("x-request-id"))
  for (const name of ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
    assert.match(response.headers.get(name) ?? "", /^\d+$/, `${name} of ${what}`)
  }
}

const steered = (steering: string): Record<string, string> => ({ "x-svc-sandbox": steering })

/** Sends requests that end in every way, so that the test can read their receipts. */
const makeRequests = (service: Service, key: string) =>
  Effect.gen(function* () {
    const chat = (body: object, steering = "") =>
      post(`${service.api}/chat/completions`, key, { ...hello, ...body }, steered(steering))
    yield* chat({})
    yield* Effect.flatMap(chat({ stream: true }), frames)
    yield* Effect.flatMap(chat({ stream: true }, "fault=break,after=2,output_tokens=200"), frames)
    yield* chat({ routing: { allow_fallbacks: false } }, "fault=error")
    yield* chat({ max_tokens: 5 }, "output_tokens=200")
  })

/** The statuses of valid calls that do not get 200: a redirect, and a call without Stripe's signature. */
const statuses: Readonly<Record<string, number>> = { "videos.content": 302, "payments.stripe": 400 }

describe("the contract", () => {
  it.live("states the credential, rate limit and charge that every operation has", () =>
    Effect.gen(function* () {
      // The receiver answers 204, so that no retry is running when the test redelivers.
      const receiver = yield* upstream((_, response) => response.writeHead(204).end())
      const [mail, phones] = [yield* postbox(), yield* twilio]
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1", ...mail.settings, ...phones.settings })
      const { account, inferenceKey, managementKey } = yield* service.account(10)
      yield* service.preset(account.id, "hello", { model: "gpt-4o-mini" })
      yield* service.preset(account.id, "spare", { model: "gpt-4o-mini" })
      const [project, spareProject] = yield* Effect.forEach(["p", "q"], (name) => service.project(account.id, name))
      const first = yield* Effect.flatMap(post(`${service.api}/chat/completions`, inferenceKey, hello), json)
      const session = yield* Effect.flatMap(post(`${service.api}/sessions`, inferenceKey, {}), json)
      const file = yield* filed(service, inferenceKey)
      const asked = { ...wanted, input_file_id: file.id }
      const batch = yield* Effect.flatMap(post(`${service.api}/batches`, inferenceKey, asked), json)
      const [spare, suspended] = [yield* service.account(), yield* service.account()]
      yield* service.accounts.setState(suspended.account, {
        to: "suspended",
        reason: "test",
        actor: { type: "operator", id: "test" }
      })
      const owner = yield* service.signedIn(account.id)
      const opening = send(service.api, callsOf().get("console.top_ups.create")!, owner)
      const { data: topUp } = decode.topUp(yield* Effect.flatMap(opening, json))
      const plain = callsOf({
        topUp: topUp.id,
        checkout: topUp.checkout_url!.split("/").at(-1)!,
        request: first.request_id,
        ...(yield* tried(service, account.id, receiver.origin)),
        spareWebhook: (yield* service.webhooks.register({
          accountId: account.id,
          url: receiver.origin,
          events: ["video.failed"] as const,
          actor: { type: "operator", id: "test" }
        })).endpoint.id,
        session: session.id,
        file: file.id,
        spareFile: (yield* filed(service, inferenceKey)).id,
        batch: batch.id,
        project: project!.id,
        spareProject: spareProject!.id,
        video: (yield* endedVideo(service, inferenceKey, "/videos")).ended.id,
        plan: yield* service.plan("silver"),
        sparePlan: yield* service.plan("spare"),
        account: account.id,
        spareAccount: spare.account.id,
        suspendedAccount: suspended.account.id,
        attendedTopUp: yield* attended(service, account.id),
        spareTopUp: yield* attended(service, account.id),
        operatorsKey: (yield* spareKey(service, account.id)).id,
        key: (yield* spareKey(service, account.id)).id,
        spareKey: (yield* spareKey(service, account.id)).id,
        ownerSession: yield* service.ownerSession(account.id),
        managementKey: (yield* service.keys.create({
          accountId: account.id,
          kind: "management",
          name: "spare",
          scopes: [],
          actor: { type: "operator", id: "test" }
        })).id
      })
      const calls = new Map([...plain, ...(yield* coded(service, account.id, mail, phones))])
      assert.deepStrictEqual([...calls.keys()], [...operations.map(({ id }) => id)])
      const credentials = {
        "inference key": Effect.succeed(bearer(inferenceKey)),
        "management key": Effect.succeed(bearer(managementKey)),
        // Some of the operations end the session, so each gets a new one.
        session: service.signedIn(account.id),
        "operator key": Effect.map(service.operatorKey, bearer),
        "operator session": service.operatorSignedIn(),
        none: Effect.succeed({})
      }
      for (const { charge, credential, id, limit } of operations) {
        // The call before this one sends the code.
        if (id === "console.email.verify") {
          const { email } = calls.get(id)!.body as { readonly email: string }
          calls.set(id, { ...calls.get(id)!, body: { email, code: mail.codeFor(email) } })
        }
        const call = calls.get(id)!
        const before = yield* service.balance(account.id)
        const response = yield* send(service.api, call, yield* credentials[credential])
        const status = statuses[id] ?? 200
        assert.strictEqual(response.status, status, id)
        yield* Effect.promise(() => response.text())
        const after = yield* service.balance(account.id)
        assert.strictEqual(after.posted < before.posted, charge !== "free", `charge of ${id}`)
        assert.strictEqual(after.held, 0n, `hold of ${id}`)
        // An operation without a limit of its own shows the default limit.
        const shown = limit === "video_status" ? "default" : limit
        assert.isTrue(response.headers.get("ratelimit-policy")?.startsWith(`"${shown}"`), `limit of ${id}`)
        checkHeaders(response, id)
        if (credential === "none") continue
        assert.strictEqual((yield* send(service.api, call)).status, 401, `credential of ${id}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("states idempotency: a repeat under a key gets the same answer, charged once", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { account, inferenceKey } = yield* service.account(10)
      const once = () => post(`${service.api}/chat/completions`, inferenceKey, hello, { "idempotency-key": "the-same" })
      const first = decode.completion(yield* Effect.flatMap(once(), json))
      const charged = yield* service.balance(account.id)
      const again = yield* once()
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.deepStrictEqual(decode.completion(yield* json(again)), first)
      assert.deepStrictEqual(yield* service.balance(account.id), charged)
    }).pipe(Effect.scoped)
  )
})

describe("the schema of the contract decodes answers of", () => {
  it.live("chat completions", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const chat = (body: object, steering: string) =>
        Effect.flatMap(
          post(`${service.api}/chat/completions`, inferenceKey, { ...hello, ...body }, steered(steering)),
          json
        )
      const plain = decode.completion(yield* chat({}, ""))
      assert.isDefined(plain.balance_warning, "a balance of $4 must be low")
      decode.completion(yield* chat({ model: "claude-sonnet-4-5,gpt-4o-mini" }, "fault=error,provider=anthropic"))
      decode.completion(yield* chat({}, "output_tokens=90,cached_tokens=3,reasoning_tokens=20"))
      const called = decode.completion(yield* chat({ tools: [weather], tool_choice: "required" }, ""))
      assert.strictEqual(called.choices[0]?.message.tool_calls?.[0]?.function.name, "weather")
      const cut = decode.completion(yield* chat({ max_tokens: 5 }, "output_tokens=90"))
      assert.strictEqual(cut.choices[0]?.finish_reason, "length")
    }).pipe(Effect.scoped)
  )

  it.live("embeddings and rerankings", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const ask = (path: string, body: object) =>
        Effect.flatMap(post(`${service.api}${path}`, inferenceKey, body), json)
      const floats = decode.embeddings(yield* ask("/embeddings", vectors))
      assert.isDefined(floats.balance_warning, "a balance of $4 must be low")
      assert.isArray(floats.data[1]?.embedding)
      const base64 = decode.embeddings(yield* ask("/embeddings", { ...vectors, encoding_format: "base64" }))
      assert.isString(base64.data[0]?.embedding)
      const plain = decode.rerank(yield* ask("/rerank", ranking))
      assert.deepStrictEqual([plain.results[0]?.index, plain.balance_warning?.warning], [1, "low_balance"])
      const full = decode.rerank(yield* ask("/rerank", { ...ranking, return_documents: true, top_n: 1 }))
      assert.deepStrictEqual(
        full.results.map(({ document }) => document?.text),
        ["about cats"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("videos", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(20)
      const { ended, sold } = yield* endedVideo(service, inferenceKey, "/videos")
      assert.strictEqual(decode.video(sold).status, "queued")
      assert.isString(decode.video(ended).video_url)
      const broken = yield* endedVideo(service, inferenceKey, "/video", steered("fault=break,latency_ms=1"))
      decode.legacyVideo(broken.sold)
      assert.isTrue(decode.video(broken.ended).refunded)
      decode.legacyVideo(
        yield* Effect.flatMap(get(`${service.api}/video/status?id=${broken.sold.job_id}`, inferenceKey), json)
      )
    }).pipe(Effect.scoped)
  )

  it.live("images", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const ask = (path: string, body: object = {}) =>
        Effect.flatMap(post(`${service.api}${path}`, inferenceKey, { ...drawn, ...body }), json)
      const hosted = decode.images(yield* ask("/images/generations", { n: 2 }))
      assert.deepStrictEqual([hosted.data.length, hosted.balance_warning?.warning], [2, "low_balance"])
      const inline = decode.images(yield* ask("/images", { response_format: "b64_json" }))
      assert.deepStrictEqual(Object.keys(inline.data[0]!), ["b64_json"])
    }).pipe(Effect.scoped)
  )

  it.live("legacy chats", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const ask = Effect.flatMap(post(`${service.api}/chat`, inferenceKey, hello), json)
      const first = decode.legacyCompletion(yield* ask)
      assert.deepStrictEqual([first.cached, first.balance_warning?.warning], [false, "low_balance"])
      assert.isTrue(decode.legacyCompletion(yield* ask).cached)
    }).pipe(Effect.scoped)
  )

  it.live("sessions and their exports", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const open = (body: object) => Effect.flatMap(post(`${service.api}/sessions`, inferenceKey, body), json)
      decode.session(yield* open({}))
      const session = decode.session(yield* open({ session_id: "s", metadata: { a: [1, null] }, model: "gpt-4o" }))
      for (const content of ["Hello", "Hello again"]) {
        const turn = { ...hello, messages: [{ role: "user", content }], session_id: "s" }
        decode.legacyCompletion(yield* Effect.flatMap(post(`${service.api}/chat`, inferenceKey, turn), json))
      }
      const exported = Effect.flatMap(get(`${service.api}/sessions/${session.id}/export`, inferenceKey), json)
      yield* eventually(Effect.map(exported, decode.sessionExport), ({ messages }) => messages.length === 4)
    }).pipe(Effect.scoped)
  )

  it.live("responses, their streams, and the count of their input tokens", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const tools = [{ type: "function", name: "weather", parameters: { type: "object", properties: {} } }]
      const ask = (path: string, body: object, steering: string) =>
        post(`${service.api}${path}`, inferenceKey, { ...asked, ...body }, steered(steering))
      const respond = (body: object, steering: string) =>
        Effect.map(Effect.flatMap(ask("/responses", body, steering), json), decode.response)
      assert.lengthOf((yield* respond({}, "output_tokens=90,cached_tokens=3,reasoning_tokens=20")).output, 2)
      const called = yield* respond({ tools, tool_choice: "required" }, "")
      assert.strictEqual(called.output[0]?.type, "function_call")
      assert.strictEqual((yield* respond({ max_output_tokens: 5 }, "output_tokens=90")).status, "incomplete")
      decode.responseTokens(yield* Effect.flatMap(ask("/responses/input_tokens", {}, ""), json))
      const stream = (body: object, steering: string) =>
        Effect.gen(function* () {
          const response = yield* ask("/responses", { stream: true, ...body }, steering)
          checkHeaders(response, "a stream")
          const all = yield* eventsOf(response)
          return all.map(({ data, event }) => {
            const decoded = decode.responseEvent(data)
            assert.strictEqual(decoded.type, event)
            return decoded.type
          })
        })
      assert.strictEqual((yield* stream({}, "reasoning_tokens=10,output_tokens=40")).at(-1), "response.completed")
      assert.strictEqual((yield* stream({ max_output_tokens: 5 }, "output_tokens=90")).at(-1), "response.incomplete")
      const calling = yield* stream({ tools, tool_choice: "required" }, "")
      assert.include(calling, "response.function_call_arguments.done")
      assert.strictEqual((yield* stream({}, "fault=break,after=2,output_tokens=200")).at(-1), "error")
    }).pipe(Effect.scoped)
  )

  it.live("messages and the count of their tokens", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const ask = (body: object, steering: string) =>
        Effect.flatMap(post(`${service.api}/messages`, inferenceKey, { ...message, ...body }, steered(steering)), json)
      const plain = decode.message(yield* ask({}, ""))
      assert.isDefined(plain.balance_warning, "a balance of $4 must be low")
      decode.message(yield* ask({}, "output_tokens=90,cached_tokens=3,reasoning_tokens=20"))
      const tools = [{ name: "weather", input_schema: weather.function.parameters }]
      const called = decode.message(yield* ask({ tools, tool_choice: { type: "any" } }, ""))
      assert.strictEqual(called.stop_reason, "tool_use")
      const cut = decode.message(yield* ask({ max_tokens: 5 }, "output_tokens=90"))
      assert.strictEqual(cut.stop_reason, "max_tokens")
      const counted = yield* Effect.flatMap(post(`${service.api}/messages/count_tokens`, inferenceKey, message), json)
      assert.isAbove(decode.tokenCount(counted).input_tokens, 0)
    }).pipe(Effect.scoped)
  )

  it.live("streams of messages, event by event", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const stream = (body: object, steering: string) =>
        Effect.gen(function* () {
          const asked = { ...message, stream: true, ...body }
          const response = yield* post(`${service.api}/messages`, inferenceKey, asked, steered(steering))
          assert.strictEqual(response.status, 200)
          assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
          checkHeaders(response, "a stream of messages")
          return (yield* eventsOf(response)).map(({ data, event }) => {
            const decoded = decode.messageEvent(data)
            assert.strictEqual(decoded.type, event)
            return decoded
          })
        })
      const plain = yield* stream({}, "reasoning_tokens=10,output_tokens=40")
      assert.deepStrictEqual([plain[0]?.type, plain.at(-1)?.type], ["message_start", "message_stop"])
      const tools = [{ name: "weather", input_schema: weather.function.parameters }]
      const called = yield* stream({ tools, tool_choice: { type: "any" } }, "")
      assert.isTrue(called.some((event) => event.type === "message_delta" && event.delta.stop_reason === "tool_use"))
      const broken = (yield* stream({}, "fault=break,after=2,output_tokens=200")).at(-1)
      assert.strictEqual(broken?.type === "error" && broken.error.code, "upstream_error")
    }).pipe(Effect.scoped)
  )

  it.live("streams of chat completions, chunk by chunk", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const stream = (body: object, steering: string) =>
        Effect.gen(function* () {
          const asked = { ...hello, stream: true, ...body }
          const response = yield* post(`${service.api}/chat/completions`, inferenceKey, asked, steered(steering))
          assert.strictEqual(response.status, 200)
          assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
          checkHeaders(response, "a stream")
          const [done, ...data] = (yield* frames(response)).toReversed()
          assert.strictEqual(done, "[DONE]")
          return data.toReversed().map(decode.chunk)
        })
      const plain = yield* stream({}, "reasoning_tokens=10,output_tokens=40")
      assert.isAbove(plain.at(-1)?.cost_usd ?? 0, 0)
      assert.lengthOf(plain.at(-1)?.choices ?? [], 1)
      const counted = yield* stream({ stream_options: { include_usage: true } }, "")
      assert.lengthOf(counted.at(-1)?.choices ?? [], 0)
      const tools = yield* stream({ tools: [weather], tool_choice: "required" }, "")
      assert.isTrue(tools.some((chunk) => chunk.choices[0]?.delta.tool_calls !== undefined))
      const broken = yield* stream({}, "fault=break,after=2,output_tokens=200")
      assert.strictEqual(broken.at(-1)?.error?.code, "upstream_error")
      assert.strictEqual(broken.at(-1)?.choices[0]?.finish_reason, "error")
    }).pipe(Effect.scoped)
  )

  it.live("batches and files", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const asked = {
        requests: [
          { custom_id: "a", body: hello },
          { url: "/embeddings", body: vectors }
        ]
      }
      const list = decode.batch(yield* Effect.flatMap(post(`${service.api}/batch`, inferenceKey, asked), json))
      assert.isDefined(list.balance_warning)
      decode.completion(list.data[0]?.response?.body)
      decode.embeddings(list.data[1]?.response?.body)
      const file = yield* filed(service, inferenceKey)
      const body = { ...wanted, input_file_id: file.id }
      const { id } = decode.batchObject(yield* Effect.flatMap(post(`${service.api}/batches`, inferenceKey, body), json))
      const read = (path: string) => Effect.flatMap(get(`${service.api}${path}`, inferenceKey), json)
      decode.batchObject(yield* read(`/batches/${id}`))
      assert.lengthOf(decode.batchPage(yield* read("/batches")).data, 1)
      decode.file(yield* read(`/files/${file.id}`))
      assert.isFalse(decode.fileList(yield* read("/files?purpose=batch&limit=1")).has_more)
      const deleted = yield* Effect.promise(() =>
        fetch(`${service.api}/files/${file.id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${inferenceKey}` }
        })
      )
      decode.fileDeleted(yield* json(deleted))
    }).pipe(Effect.scoped)
  )

  it.live("searches", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const find = (body: object) => Effect.flatMap(post(`${service.api}/search`, inferenceKey, body), json)
      const one = decode.search(yield* find(sought))
      assert.isDefined(one.balance_warning, "a balance of $4 must be low")
      const two = decode.search(yield* find({ query: ["the Moon", "tea"] }))
      assert.isTrue(
        two.results.some(({ last_updated, query_index }) => last_updated !== undefined && query_index === 0)
      )
      decode.receipt(yield* Effect.flatMap(get(`${service.api}/requests/${two.request_id}`, inferenceKey), json))
    }).pipe(Effect.scoped)
  )

  it.live("speech: bytes with the content type of the contract for each format", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(4)
      const promised = Object.keys(document.paths["/api/v1/audio/speech"].post.responses["200"].content)
      assert.sameMembers(promised, Object.values(speechTypes))
      for (const [response_format, type] of Object.entries(speechTypes)) {
        const response = yield* post(`${service.api}/audio/speech`, inferenceKey, { ...spoken, response_format })
        assert.strictEqual(response.headers.get("content-type"), type)
        assert.isAbove((yield* Effect.promise(() => response.bytes())).length, 1_000)
        checkHeaders(response, "speech")
        const id = decode.requestId(response.headers.get("x-request-id"))
        const receipt = decode.receipt(yield* Effect.flatMap(get(`${service.api}/requests/${id}`, inferenceKey), json))
        assert.strictEqual(String(receipt.cost_usd), String(Number(response.headers.get("x-cost-usd"))))
      }
    }).pipe(Effect.scoped)
  )

  it.live("webhooks and their deliveries", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { account, inferenceKey } = yield* service.account(1)
      const { delivery, webhook } = yield* tried(service, account.id)
      const base = `${service.api}/webhooks`
      const ask = (path: string, body: object) => Effect.flatMap(post(`${base}${path}`, inferenceKey, body), json)
      const read = (path: string) => Effect.flatMap(get(`${base}${path}`, inferenceKey), json)
      decode.webhookWithSecret(yield* ask("", hook))
      assert.lengthOf(decode.webhooks(yield* read("")).data, 2)
      decode.webhook(yield* read(`/${webhook}`))
      const changed = yield* patch(`${base}/${webhook}`, inferenceKey, { status: "enabled" })
      decode.webhook(yield* json(changed))
      const [listed] = decode.webhookDeliveries(yield* read(`/${webhook}/deliveries`)).data
      assert.strictEqual(listed?.attempts[0]?.status_code, null)
      decode.webhookDelivery(yield* ask(`/${webhook}/deliveries/${delivery}/redeliver`, {}))
      decode.webhookWithSecret(yield* ask(`/${webhook}/rotate-secret`, {}))
      assert.isFalse(decode.webhookTest(yield* ask(`/${webhook}/test`, {})).data.delivered)
    }).pipe(Effect.scoped)
  )

  it.live("the management of keys", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { managementKey } = yield* service.account(10)
      const ask = managing(service, managementKey, "/keys")
      const asked = {
        name: "k",
        budget_cents: 5,
        budget_period: "daily",
        expires_at: 4_102_444_800,
        routing: { strategy: "cost", max_price: { prompt: 1 } }
      }
      const { data } = decode.managedKeyWithSecret((yield* ask("POST", "", asked)).body)
      decode.managedKeyWithSecret((yield* ask("POST", `/${data.id}/rotate`, { grace_seconds: 60 })).body)
      assert.lengthOf(decode.managedKeys((yield* ask("GET")).body).data, 3)
      assert.strictEqual(decode.managedKey((yield* ask("GET", `/${data.id}`)).body).data.budget_cents, 5)
      const [newest] = decode.managedKeys((yield* ask("GET")).body).data
      decode.managedKey((yield* ask("PATCH", `/${newest!.id}`, { budget_cents: null, expires_at: null })).body)
      decode.keyRevoked((yield* ask("DELETE", `/${data.id}`)).body)
      decode.error((yield* ask("DELETE", `/${data.id}`)).body)
    }).pipe(Effect.scoped)
  )

  it.live("estimates, receipts, usage, keys and models", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      for (const body of [hello, { ...hello, max_tokens: 9 }, { models: ["gpt-4o", "gpt-4o-mini"], input_tokens: 9 }]) {
        decode.estimate(yield* Effect.flatMap(post(`${service.api}/estimate`, inferenceKey, body), json))
      }
      yield* makeRequests(service, inferenceKey)
      const list = decode.receipts(yield* Effect.flatMap(get(`${service.api}/requests?limit=4`, inferenceKey), json))
      const rest = yield* get(`${service.api}/requests?cursor=${list.next_cursor}`, inferenceKey)
      const receipts = [...list.data, ...decode.receipts(yield* json(rest)).data]
      assert.deepStrictEqual([...new Set(receipts.map(({ status }) => status))].toSorted(), ["failed", "succeeded"])
      assert.lengthOf(receipts, 5)
      for (const { id } of receipts) {
        decode.receipt(yield* Effect.flatMap(get(`${service.api}/requests/${id}`, inferenceKey), json))
      }
      for (const period of ["1d", "7d", "30d"]) {
        const { data, totals } = decode.usage(
          yield* Effect.flatMap(get(`${service.api}/usage?period=${period}`, inferenceKey), json)
        )
        assert.isNotEmpty(data)
        assert.strictEqual(totals.requests, receipts.length)
      }
      decode.key(yield* Effect.flatMap(get(`${service.api}/key`, inferenceKey), json))
      const models = decode.models(yield* Effect.flatMap(get(`${service.api}/models`, inferenceKey), json))
      assert.isAbove(models.data.length, 100)
      for (const id of ["gpt-4o-mini", "svc/auto", encodeURIComponent("svc/auto")]) {
        decode.model(yield* Effect.flatMap(get(`${service.api}/models/${id}`, inferenceKey), json))
      }
    }).pipe(Effect.scoped)
  )
})

/** A request that fails, its operation, and the code of the error. */
interface Failing {
  readonly code: string
  readonly operation: string
  readonly ask: (service: Service, key: string) => Effect.Effect<Response>
}

const chat =
  (body: unknown, headers: Record<string, string> = {}) =>
  (service: Service, key: string) =>
    post(`${service.api}/chat/completions`, key, body, headers)

const legacy = (body: unknown) => (service: Service, key: string) => post(`${service.api}/chat`, key, body)

const sessions = (body: unknown) => (service: Service, key: string) => post(`${service.api}/sessions`, key, body)

const responses = (body: unknown) => (service: Service, key: string) => post(`${service.api}/responses`, key, body)

const inputTokens = (body: unknown) => (service: Service, key: string) =>
  post(`${service.api}/responses/input_tokens`, key, body)
const messages =
  (body: unknown, headers: Record<string, string> = {}) =>
  (service: Service, key: string) =>
    post(`${service.api}/messages`, key, body, headers)

const speech =
  (body: unknown, headers: Record<string, string> = {}) =>
  (service: Service, key: string) =>
    post(`${service.api}/audio/speech`, key, body, headers)

const images =
  (body: unknown, headers: Record<string, string> = {}) =>
  (service: Service, key: string) =>
    post(`${service.api}/images/generations`, key, body, headers)

const search =
  (body: unknown, headers: Record<string, string> = {}) =>
  (service: Service, key: string) =>
    post(`${service.api}/search`, key, body, headers)

const batch =
  (body: unknown, headers: Record<string, string> = {}) =>
  (service: Service, key: string) =>
    post(`${service.api}/batch`, key, body, headers)

const fault = (name: string, body: object = {}) =>
  chat({ ...hello, routing: { allow_fallbacks: false }, ...body }, steered(`fault=${name}`))

const failings: ReadonlyArray<Failing> = [
  { code: "invalid_json", operation: "chat.completions", ask: chat("{") },
  { code: "validation_error", operation: "chat.completions", ask: chat({ ...hello, temperature: 9, top_p: -1 }) },
  { code: "unsupported_parameter", operation: "chat.completions", ask: chat({ ...hello, n: 2 }) },
  { code: "unknown_model", operation: "chat.completions", ask: chat({ ...hello, model: "no-such-model" }) },
  { code: "no_model_in_budget", operation: "chat.completions", ask: chat({ ...hello, budget_cents: 0 }) },
  { code: "invalid_fallback_chain", operation: "chat.completions", ask: chat({ ...hello, model: "gpt-4o,,o3" }) },
  { code: "not_found", operation: "chat.completions", ask: chat({ ...hello, model: "@no-such-preset" }) },
  {
    code: "invalid_api_key",
    operation: "chat.completions",
    ask: ({ api }) => post(`${api}/chat/completions`, "x", hello)
  },
  {
    code: "unsupported_media_type",
    operation: "chat.completions",
    ask: chat(hello, { "content-type": "text/plain" })
  },
  {
    code: "no_provider_available",
    operation: "chat.completions",
    ask: chat({ ...hello, routing: { providers: { only: ["unknown"] } } })
  },
  {
    code: "not_found",
    operation: "presets.chat.completions",
    ask: ({ api }, key) => post(`${api}/presets/No%20Such/chat/completions`, key, hello)
  },
  { code: "upstream_error", operation: "chat.completions", ask: fault("error") },
  { code: "empty_completion", operation: "chat.completions", ask: fault("empty") },
  { code: "upstream_timeout", operation: "chat.completions", ask: fault("stall,after=0", { stream: true }) },
  {
    code: "idempotency_key_reused",
    operation: "chat.completions",
    ask: (service, key) =>
      Effect.andThen(
        chat(hello, { "idempotency-key": "k" })(service, key),
        chat({ ...hello, max_tokens: 9 }, { "idempotency-key": "k" })(service, key)
      )
  },
  {
    code: "insufficient_credits",
    operation: "chat.completions",
    ask: (service) =>
      Effect.flatMap(Effect.orDie(service.account(0)), ({ inferenceKey }) => chat(hello)(service, inferenceKey))
  },
  {
    code: "wrong_key_kind",
    operation: "requests.list",
    ask: (service) =>
      Effect.flatMap(Effect.orDie(service.account(0)), ({ managementKey }) =>
        get(`${service.api}/requests`, managementKey)
      )
  },
  {
    code: "validation_error",
    operation: "estimate",
    ask: ({ api }, key) => post(`${api}/estimate`, key, { model: 7 })
  },
  { code: "validation_error", operation: "requests.list", ask: ({ api }, key) => get(`${api}/requests?limit=0`, key) },
  { code: "not_found", operation: "requests.get", ask: ({ api }, key) => get(`${api}/requests/${absent}`, key) },
  { code: "invalid_period", operation: "usage", ask: ({ api }, key) => get(`${api}/usage?period=1y`, key) },
  {
    code: "validation_error",
    operation: "webhooks.create",
    ask: ({ api }, key) => post(`${api}/webhooks`, key, { ...hook, url: "https://10.0.0.1/" })
  },
  {
    code: "conflict",
    operation: "webhooks.create",
    ask: (service, key) => {
      const once = post(`${service.api}/webhooks`, key, { ...hook, url: "https://1.1.1.1/" })
      return Effect.andThen(
        Effect.forEach(Array.from({ length: 20 }), () => once, { concurrency: 4 }),
        once
      )
    }
  },
  { code: "not_found", operation: "webhooks.get", ask: ({ api }, key) => get(`${api}/webhooks/${nothing}`, key) },
  {
    code: "validation_error",
    operation: "webhooks.update",
    ask: ({ api }, key) => patch(`${api}/webhooks/${nothing}`, key, {})
  },
  {
    code: "not_found",
    operation: "webhooks.update",
    ask: ({ api }, key) => patch(`${api}/webhooks/${nothing}`, key, { status: "enabled" })
  },
  {
    code: "not_found",
    operation: "webhooks.delete",
    ask: ({ api }, key) => remove(`${api}/webhooks/${nothing}`, key)
  },
  { code: "validation_error", operation: "models.list", ask: ({ api }, key) => get(`${api}/models?sort=zest`, key) },
  { code: "not_found", operation: "models.get", ask: ({ api }, key) => get(`${api}/models/none`, key) },
  { code: "unsupported_parameter", operation: "responses", ask: responses({ ...asked, store: true }) },
  { code: "validation_error", operation: "responses", ask: responses({ ...asked, input: [] }) },
  { code: "not_found", operation: "responses", ask: responses({ ...asked, model: "@no-such-preset" }) },
  { code: "unknown_model", operation: "responses.input_tokens", ask: inputTokens({ ...asked, model: "no-such" }) },
  { code: "not_found", operation: "responses.input_tokens", ask: inputTokens({ ...asked, model: "@no-such-preset" }) },
  { code: "validation_error", operation: "audio.speech", ask: speech({ ...spoken, voice: "unknown" }) },
  { code: "unknown_model", operation: "audio.speech", ask: speech({ ...spoken, model: "gpt-4o-mini" }) },
  { code: "upstream_error", operation: "audio.speech", ask: speech(spoken, steered("fault=error")) },
  {
    code: "idempotency_result_unavailable",
    operation: "audio.speech",
    ask: (service, key) =>
      Effect.andThen(
        Effect.flatMap(speech(spoken, { "idempotency-key": "s" })(service, key), (first) =>
          Effect.promise(() => first.bytes())
        ),
        speech(spoken, { "idempotency-key": "s" })(service, key)
      )
  },
  { code: "validation_error", operation: "search", ask: search({ ...sought, topic: "news" }) },
  { code: "unknown_model", operation: "search", ask: search({ ...sought, model: "tts-1" }) },
  { code: "search_failed", operation: "search", ask: search(sought, steered("fault=error")) },
  { code: "validation_error", operation: "batch", ask: batch({ requests: [] }) },
  { code: "unknown_model", operation: "batch", ask: batch({ requests: [{ body: { ...hello, model: "none" } }] }) },
  {
    code: "batch_request_failed",
    operation: "batch",
    ask: batch({ requests: [{ body: { ...hello, routing: { allow_fallbacks: false } } }] }, steered("fault=error"))
  },
  {
    code: "validation_error",
    operation: "batches.create",
    ask: ({ api }, key) => post(`${api}/batches`, key, wanted)
  },
  { code: "not_found", operation: "batches.get", ask: ({ api }, key) => get(`${api}/batches/none`, key) },
  {
    code: "not_found",
    operation: "batches.cancel",
    ask: ({ api }, key) => post(`${api}/batches/none/cancel`, key, {})
  },
  { code: "unsupported_media_type", operation: "files.create", ask: ({ api }, key) => post(`${api}/files`, key, {}) },
  { code: "not_found", operation: "files.get", ask: ({ api }, key) => get(`${api}/files/none`, key) },
  { code: "not_found", operation: "files.content", ask: ({ api }, key) => get(`${api}/files/none/content`, key) },
  { code: "invalid_json", operation: "chat", ask: legacy("{") },
  { code: "validation_error", operation: "chat", ask: legacy({ ...hello, stream: true }) },
  { code: "not_found", operation: "chat", ask: legacy({ ...hello, model: "@no-such-preset" }) },
  { code: "not_found", operation: "chat", ask: legacy({ ...hello, session_id: "no-such-session" }) },
  { code: "invalid_json", operation: "sessions.create", ask: sessions("{") },
  { code: "validation_error", operation: "sessions.create", ask: sessions({ banana: 1 }) },
  {
    code: "not_found",
    operation: "sessions.export",
    ask: ({ api }, key) => get(`${api}/sessions/0123456789abcdef01234567/export`, key)
  },
  { code: "invalid_json", operation: "messages", ask: messages("{") },
  { code: "validation_error", operation: "messages", ask: messages(hello) },
  { code: "unsupported_parameter", operation: "messages", ask: messages({ ...message, banana: 1 }) },
  { code: "not_found", operation: "messages", ask: messages({ ...message, model: "@no-such-preset" }) },
  { code: "invalid_api_key", operation: "messages", ask: ({ api }) => post(`${api}/messages`, "x", message) },
  { code: "unsupported_media_type", operation: "messages", ask: messages(message, { "content-type": "text/plain" }) },
  {
    code: "wrong_key_kind",
    operation: "messages",
    ask: (service) =>
      Effect.flatMap(Effect.orDie(service.account(0)), ({ managementKey }) => messages(message)(service, managementKey))
  },
  {
    code: "insufficient_credits",
    operation: "messages",
    ask: (service) =>
      Effect.flatMap(Effect.orDie(service.account(0)), ({ inferenceKey }) => messages(message)(service, inferenceKey))
  },
  {
    code: "upstream_error",
    operation: "messages",
    ask: messages({ ...message, routing: { allow_fallbacks: false } }, steered("fault=error"))
  },
  { code: "empty_completion", operation: "messages", ask: messages(message, steered("fault=empty")) },
  {
    code: "upstream_timeout",
    operation: "messages",
    ask: messages({ ...message, stream: true, routing: { allow_fallbacks: false } }, steered("fault=stall,after=0"))
  },
  {
    code: "no_provider_available",
    operation: "messages",
    ask: messages({ ...message, routing: { providers: { only: ["unknown"] } } })
  },
  {
    code: "idempotency_key_reused",
    operation: "messages",
    ask: (service, key) =>
      Effect.andThen(
        messages(message, { "idempotency-key": "m" })(service, key),
        messages({ ...message, max_tokens: 9 }, { "idempotency-key": "m" })(service, key)
      )
  },
  {
    code: "unknown_model",
    operation: "messages.count_tokens",
    ask: ({ api }, key) => post(`${api}/messages/count_tokens`, key, { ...hello, model: "no-such-model" })
  },
  {
    code: "not_found",
    operation: "messages.count_tokens",
    ask: ({ api }, key) => post(`${api}/messages/count_tokens`, key, { ...hello, model: "@no-such-preset" })
  },
  { code: "validation_error", operation: "images.generations", ask: images({ ...drawn, n: 11 }) },
  { code: "empty_generation", operation: "images.generations", ask: images(drawn, steered("fault=empty")) },
  { code: "generation_failed", operation: "images.generations", ask: images(drawn, steered("fault=error")) },
  {
    code: "generation_failed",
    operation: "images",
    ask: ({ api }, key) => post(`${api}/images`, key, drawn, steered("fault=error"))
  }
]

const declared = (id: string): ReadonlyArray<string> => {
  const { method, path } = operations.find((one) => one.id === id)!
  return Object.keys(document.paths[path][method.toLowerCase()].responses)
}

const isLegacy = (operation = ""): boolean =>
  ["chat", "images", "video", "video.status", "sessions.create", "sessions.export"].includes(operation)

/** Checks that a failure has the body and headers of the contract, and a status in the table and in its operation's responses. */
const checkFailure = (response: Response, code: string, operation?: string) =>
  Effect.gen(function* () {
    const said = yield* json(response)
    const isMessages = operation?.startsWith("messages") === true
    const body = isLegacy(operation)
      ? decode.legacyError(said)
      : isMessages
        ? decode.messagesError(said)
        : decode.error(said)
    const error = typeof body.error === "string" ? undefined : body.error
    const what = `${code} of ${operation ?? "no operation"}`
    assert.strictEqual(error?.code ?? body.error, code, JSON.stringify(body))
    const typeOf = ({ type }: { readonly type: string }) =>
      isMessages ? encodeMessagesError({ type, code, message: "", param: null }).type : type
    const lines = Object.values(table).filter((line) => line.code === code)
    assert.isTrue(
      lines.some((line) => line.status === response.status && typeOf(line) === (error?.type ?? line.type)),
      `${response.status} ${error?.type} for ${what} is not in the table`
    )
    if (operation !== undefined) assert.include(declared(operation), String(response.status), what)
    assert.match(response.headers.get("x-should-retry") ?? "", /^(true|false)$/, what)
    checkHeaders(response, what)
  })

describe("the error schema of the contract decodes the failures", () => {
  it.live("of every operation", () =>
    Effect.gen(function* () {
      const service = yield* startService({ UPSTREAM_FIRST_TOKEN_TIMEOUT: "1 second" })
      const { inferenceKey } = yield* service.account(10)
      for (const { ask, code, operation } of failings) {
        yield* checkFailure(yield* ask(service, inferenceKey), code, operation)
      }
    }).pipe(Effect.scoped)
  )

  it.live("of requests to no operation", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      yield* checkFailure(yield* get(`${service.api}/nothing`, inferenceKey), "unknown_route")
      yield* checkFailure(yield* post(`${service.api}/models`, inferenceKey, {}), "method_not_allowed")
      yield* checkFailure(yield* Effect.promise(() => fetch(`${service.api}/requests`)), "missing_api_key")
    }).pipe(Effect.scoped)
  )

  it.live("of every operation beyond its rate limit", () =>
    Effect.gen(function* () {
      const service = yield* startService({ RATE_LIMIT_SCALE: "0.0001" })
      const { account, inferenceKey, managementKey } = yield* service.account(1)
      const credentials = {
        "inference key": bearer(inferenceKey),
        "management key": bearer(managementKey),
        session: yield* service.signedIn(account.id),
        "operator key": bearer(yield* service.operatorKey),
        "operator session": yield* service.operatorSignedIn(),
        none: {}
      }
      for (const [id, call] of callsOf()) {
        const { credential, limit } = operations.find((one) => one.id === id)!
        if (limit === "video_status") continue
        yield* send(service.api, call, credentials[credential])
        yield* checkFailure(yield* send(service.api, call, credentials[credential]), "rate_limit_exceeded", id)
      }
    }).pipe(Effect.scoped)
  )

  it.live("during a database outage", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(1)
      yield* takeAway(service.databaseUrl)
      for (const [path, operation] of [
        ["/requests", "requests.list"],
        [`/requests/${absent}`, "requests.get"],
        ["/usage", "usage"],
        ["/key", "key"]
      ] as const) {
        yield* checkFailure(yield* get(`${service.api}${path}`, inferenceKey), "store_unavailable", operation)
      }
      const estimate = yield* post(`${service.api}/estimate`, inferenceKey, hello)
      yield* checkFailure(estimate, "store_unavailable", "estimate")
    }).pipe(Effect.scoped)
  )
})

describe("the served OpenAPI document", () => {
  it.live("is the published one with the public URL as its server", () =>
    Effect.gen(function* () {
      const service = yield* startService({ PUBLIC_URL: "http://gateway.localhost:8787" })
      const served = yield* Effect.promise(() => fetch(`${service.api}/openapi.json`))
      const { servers, ...body } = yield* json(served)
      assert.deepStrictEqual(servers, [{ url: "http://gateway.localhost:8787", description: "This gateway." }])
      assert.strictEqual(openApiText({ ...document, ...body }), openApiText())
    }).pipe(Effect.scoped)
  )
})
