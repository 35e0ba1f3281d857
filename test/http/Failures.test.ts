import { assert, describe, it } from "@effect/vitest"
import { HttpServerResponse } from "effect/http"
import { failedAt, type Failure, failure, invalid, type Reason } from "../../src/domain/Failure.ts"
import { bodyOf, describe as describeFailure, headersOf, respond } from "../../src/http/Failures.ts"
import { messageOf, table } from "../../src/http/FailureRows.ts"

type Tag = Reason["_tag"]

/** One failure of every reason there is; a reason without one does not compile. */
const samples: { readonly [T in Tag]: Extract<Reason, { readonly _tag: T }> } = {
  InvalidJson: { _tag: "InvalidJson", detail: "it is empty" },
  ValidationError: { _tag: "ValidationError", problems: [{ field: "a", message: "b" }] },
  InvalidPeriod: { _tag: "InvalidPeriod", detail: "`period` must be one of 1d, 7d, 30d." },
  UnsupportedParameter: { _tag: "UnsupportedParameter", param: "n", detail: "d" },
  UnknownModel: { _tag: "UnknownModel", model: "m" },
  NoModelInBudget: { _tag: "NoModelInBudget", budgetCents: 1, least: 5n },
  InvalidFallbackChain: { _tag: "InvalidFallbackChain", detail: "d" },
  NotVisionCapable: { _tag: "NotVisionCapable", model: "m" },
  NotToolCapable: { _tag: "NotToolCapable", model: "m" },
  ContextLengthExceeded: { _tag: "ContextLengthExceeded", tokens: 2, window: 1 },
  ImageTooLarge: { _tag: "ImageTooLarge", param: "p", limitBytes: 1 },
  MissingApiKey: { _tag: "MissingApiKey" },
  InvalidApiKey: { _tag: "InvalidApiKey" },
  WrongKeyKind: { _tag: "WrongKeyKind", needed: "inference" },
  AccountSuspended: { _tag: "AccountSuspended", detail: "d" },
  AccountClosed: { _tag: "AccountClosed", detail: "d" },
  InsufficientScope: { _tag: "InsufficientScope", scope: "keys:write" },
  NotSignedIn: { _tag: "NotSignedIn" },
  CrossSiteRequest: { _tag: "CrossSiteRequest", header: "Origin" },
  InvalidCode: { _tag: "InvalidCode" },
  InsufficientCredits: {
    _tag: "InsufficientCredits",
    limitSource: "balance",
    needed: 2_500_000_000n,
    available: 1n,
    posted: 10_000_000n
  },
  NotFound: { _tag: "NotFound", what: "request", id: "i" },
  UnknownRoute: { _tag: "UnknownRoute", method: "GET", path: "/p" },
  MethodNotAllowed: { _tag: "MethodNotAllowed", method: "PUT", allowed: ["GET", "POST"] },
  KeyLimitReached: { _tag: "KeyLimitReached", limit: 5 },
  Conflict: { _tag: "Conflict", detail: "d" },
  RequestTooLarge: { _tag: "RequestTooLarge", limitBytes: 1 },
  UnsupportedMediaType: { _tag: "UnsupportedMediaType" },
  RequestTimeout: { _tag: "RequestTimeout" },
  IdempotencyInProgress: { _tag: "IdempotencyInProgress" },
  IdempotencyKeyReused: { _tag: "IdempotencyKeyReused" },
  IdempotencyResultUnavailable: { _tag: "IdempotencyResultUnavailable", requestId: "req_1" },
  RateLimitExceeded: { _tag: "RateLimitExceeded", limit: 60, retryAfterSeconds: 7 },
  ProviderRefused: { _tag: "ProviderRefused", provider: "p", detail: "d" },
  ProviderOverflow: { _tag: "ProviderOverflow", provider: "p", detail: "d" },
  ContentPolicyViolation: { _tag: "ContentPolicyViolation", provider: "p", detail: "d" },
  EmptyCompletion: { _tag: "EmptyCompletion" },
  GenerationFailed: { _tag: "GenerationFailed", detail: "d", retryAfterSeconds: 4 },
  EmptyGeneration: { _tag: "EmptyGeneration" },
  StatusCheckFailed: { _tag: "StatusCheckFailed" },
  VideoUnavailable: { _tag: "VideoUnavailable", detail: "d" },
  BatchRequestFailed: { _tag: "BatchRequestFailed", index: 3, detail: "d" },
  SearchFailed: { _tag: "SearchFailed", retryAfterSeconds: 7 },
  UpstreamError: { _tag: "UpstreamError", detail: "d", retryAfterSeconds: 3 },
  UpstreamRateLimited: { _tag: "UpstreamRateLimited", retryAfterSeconds: 9 },
  UpstreamTimeout: { _tag: "UpstreamTimeout", clock: "first_token" },
  NoProviderAvailable: { _tag: "NoProviderAvailable", detail: "d" },
  ServiceUnavailable: { _tag: "ServiceUnavailable", detail: "d" },
  StoreUnavailable: { _tag: "StoreUnavailable" },
  Overloaded: { _tag: "Overloaded" },
  HoldExpired: { _tag: "HoldExpired" },
  InternalError: { _tag: "InternalError" }
}

/** What callers are promised: by code, its status, its type, whether to try again, and which member is to blame. */
const promised: Readonly<
  Record<string, readonly [status: number, type: string, retry: boolean, param: string | null, ...Array<Tag>]>
> = {
  invalid_json: [400, "invalid_request_error", false, null, "InvalidJson"],
  validation_error: [400, "invalid_request_error", false, "a", "ValidationError"],
  unsupported_parameter: [400, "invalid_request_error", false, "n", "UnsupportedParameter"],
  unknown_model: [400, "invalid_request_error", false, "model", "UnknownModel"],
  invalid_period: [400, "invalid_request_error", false, "period", "InvalidPeriod"],
  no_model_in_budget: [400, "invalid_request_error", false, "budget_cents", "NoModelInBudget"],
  invalid_fallback_chain: [400, "invalid_request_error", false, "model", "InvalidFallbackChain"],
  model_not_vision_capable: [400, "invalid_request_error", false, "model", "NotVisionCapable"],
  model_not_tool_capable: [400, "invalid_request_error", false, "model", "NotToolCapable"],
  context_length_exceeded: [400, "invalid_request_error", false, "messages", "ContextLengthExceeded"],
  content_policy_violation: [400, "invalid_request_error", false, null, "ContentPolicyViolation"],
  invalid_code: [400, "invalid_request_error", false, "code", "InvalidCode"],
  missing_api_key: [401, "authentication_error", false, null, "MissingApiKey"],
  invalid_api_key: [401, "authentication_error", false, null, "InvalidApiKey"],
  not_signed_in: [401, "authentication_error", false, null, "NotSignedIn"],
  insufficient_credits: [402, "insufficient_quota", false, null, "InsufficientCredits"],
  insufficient_scope: [403, "permission_error", false, "keys:write", "InsufficientScope"],
  cross_site_request: [403, "permission_error", false, "Origin", "CrossSiteRequest"],
  account_suspended: [403, "permission_error", false, null, "AccountSuspended"],
  account_closed: [403, "permission_error", false, null, "AccountClosed"],
  wrong_key_kind: [403, "permission_error", false, null, "WrongKeyKind"],
  not_found: [404, "not_found_error", false, null, "NotFound"],
  unknown_route: [404, "not_found_error", false, null, "UnknownRoute"],
  method_not_allowed: [405, "invalid_request_error", false, null, "MethodNotAllowed"],
  request_timeout: [408, "timeout_error", true, null, "RequestTimeout"],
  idempotency_request_in_progress: [409, "idempotency_error", true, "Idempotency-Key", "IdempotencyInProgress"],
  key_limit_reached: [409, "invalid_request_error", false, null, "KeyLimitReached"],
  conflict: [409, "invalid_request_error", false, null, "Conflict"],
  idempotency_result_unavailable: [409, "idempotency_error", false, "Idempotency-Key", "IdempotencyResultUnavailable"],
  request_too_large: [413, "request_too_large", false, null, "RequestTooLarge"],
  image_too_large: [413, "request_too_large", false, "p", "ImageTooLarge"],
  unsupported_media_type: [415, "invalid_request_error", false, null, "UnsupportedMediaType"],
  idempotency_key_reused: [422, "idempotency_error", false, "Idempotency-Key", "IdempotencyKeyReused"],
  rate_limit_exceeded: [429, "rate_limit_error", true, null, "RateLimitExceeded"],
  internal_error: [500, "api_error", true, null, "InternalError"],
  batch_request_failed: [500, "api_error", false, "requests[3]", "BatchRequestFailed"],
  generation_failed: [502, "upstream_error", true, null, "GenerationFailed"],
  empty_generation: [502, "upstream_error", true, null, "EmptyGeneration"],
  status_check_failed: [502, "upstream_error", true, null, "StatusCheckFailed"],
  service_unavailable: [503, "service_unavailable_error", false, null, "VideoUnavailable"],
  empty_completion: [502, "upstream_error", true, null, "EmptyCompletion"],
  search_failed: [502, "upstream_error", true, null, "SearchFailed"],
  upstream_error: [502, "upstream_error", true, null, "UpstreamError"],
  no_provider_available: [503, "service_unavailable_error", false, null, "NoProviderAvailable"],
  store_unavailable: [503, "service_unavailable_error", true, null, "StoreUnavailable"],
  overloaded: [503, "service_unavailable_error", true, null, "Overloaded"],
  upstream_timeout: [504, "timeout_error", true, null, "UpstreamTimeout"],
  request_expired: [504, "timeout_error", false, null, "HoldExpired"]
}

/** Reasons that share the code of another. */
const shared: Partial<Record<Tag, string>> = {
  ProviderRefused: "validation_error",
  ProviderOverflow: "context_length_exceeded",
  ServiceUnavailable: "service_unavailable",
  UpstreamRateLimited: "rate_limit_exceeded"
}

const all: ReadonlyArray<Failure> = Object.values(samples).map((reason) => failure(reason))

const credits = (change: Partial<(typeof samples)["InsufficientCredits"]>) =>
  failure({ ...samples.InsufficientCredits, ...change })

describe("the table of failures", () => {
  it("gives each reason its promised status, type, code and charge", () => {
    for (const [code, [status, type, retry, param, tag]] of Object.entries(promised)) {
      const failed = failure(samples[tag as Tag])
      const line = table[tag as Tag]
      assert.deepStrictEqual([line.status, line.type, line.code, line.retry], [status, type, code, retry], code)
      assert.strictEqual(describeFailure(failed).param, param, code)
      assert.strictEqual(headersOf(failed)["x-should-retry"], String(retry), code)
      assert.strictEqual(respond(failed).status, status, code)
    }
  })

  it("has one row for every reason and no other row", () => {
    assert.sameMembers(Object.keys(table), Object.keys(samples))
    const tags = new Set(Object.values(promised).map(([, , , , tag]) => tag))
    for (const [tag, { code }] of Object.entries(table)) {
      assert.isTrue(tags.has(tag as Tag) || shared[tag as Tag] === code, tag)
      assert.property(promised, code, tag)
    }
  })

  it("charges only failures that may follow delivered output", () => {
    const charged = Object.entries(table).flatMap(([tag, line]) => (line.charged ? [tag] : []))
    assert.sameMembers(charged, [
      "InternalError",
      "BatchRequestFailed",
      "UpstreamError",
      "UpstreamTimeout",
      "HoldExpired"
    ])
  })

  it("never sends the text that is for the log", () => {
    for (const { reason } of all) {
      const failed = failure(reason, new Error("swordfish"))
      assert.notInclude(JSON.stringify([bodyOf(failed), headersOf(failed)]), "swordfish")
    }
  })

  it("has a message for every reason", () => {
    for (const failed of all) {
      const { message } = describeFailure(failed)
      assert.match(message, /\S/, failed.reason._tag)
      assert.notMatch(message, /undefined|\[object/, failed.reason._tag)
    }
  })
})

describe("headers of failures", () => {
  const afterOf = (failed: Failure) => headersOf(failed)["retry-after"]

  it("say for an invalid field whether a retry may succeed soon", () => {
    const retryOf = (passing?: "soon" | "later") =>
      headersOf(failure({ ...samples.ValidationError, ...(passing === undefined ? {} : { passing }) }))[
        "x-should-retry"
      ]
    assert.deepStrictEqual([retryOf(), retryOf("later"), retryOf("soon")], ["false", "false", "true"])
  })

  it("include Retry-After when waiting helps", () => {
    const after = Object.fromEntries(all.map((failed) => [failed.reason._tag, afterOf(failed)]))
    const waits = Object.entries(after).filter(([, seconds]) => seconds !== undefined)
    assert.deepStrictEqual(Object.fromEntries(waits), {
      IdempotencyInProgress: "1",
      RateLimitExceeded: "7",
      GenerationFailed: "4",
      SearchFailed: "7",
      UpstreamError: "3",
      UpstreamRateLimited: "9",
      StoreUnavailable: "2",
      Overloaded: "1"
    })
    for (const failed of all) {
      const seconds = afterOf(failed)
      assert.strictEqual(
        headersOf(failed)["retry-after-ms"],
        seconds === undefined ? undefined : `${seconds}000`,
        failed.reason._tag
      )
    }
  })

  it("include Allow, WWW-Authenticate and Connection where they apply", () => {
    assert.strictEqual(headersOf(failure(samples.MethodNotAllowed))["allow"], "GET, POST")
    assert.strictEqual(
      messageOf({ _tag: "MethodNotAllowed", method: "PUT", allowed: ["PATCH", "GET", "DELETE", "HEAD"] }),
      "PUT is not allowed here; use GET, HEAD, PATCH or DELETE."
    )
    assert.strictEqual(
      messageOf({ _tag: "MethodNotAllowed", method: "PUT", allowed: ["POST"] }),
      "PUT is not allowed here; use POST."
    )
    for (const tag of ["MissingApiKey", "InvalidApiKey"] as const) {
      assert.strictEqual(headersOf(failure(samples[tag]))["www-authenticate"], "Bearer")
    }
    assert.isUndefined(headersOf(failure(samples.WrongKeyKind))["www-authenticate"])
    for (const tag of ["RequestTooLarge", "Overloaded"] as const) {
      assert.strictEqual(headersOf(failure(samples[tag]))["connection"], "close")
    }
  })

  it("are sent with the body as JSON", () => {
    const response = respond(failure(samples.MissingApiKey))
    assert.isTrue(HttpServerResponse.isHttpServerResponse(response))
    assert.strictEqual(response.headers["content-type"], "application/json")
    assert.strictEqual(response.headers["x-should-retry"], "false")
  })

  it("are sent in the error format of their operation, with the same status and headers", () => {
    const exchange = { errors: "legacy", requestId: "req_2" } as const
    const textOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
      body._tag === "Uint8Array" ? JSON.parse(Buffer.from(body.body).toString()) : assert.fail(body._tag)
    for (const tag of Object.keys(samples) as Array<Tag>) {
      const failed = failure(samples[tag])
      const [legacy, standard] = [respond(failed, exchange), respond(failed)]
      assert.deepStrictEqual(
        [legacy.status, legacy.headers["retry-after"]],
        [standard.status, standard.headers["retry-after"]]
      )
      assert.deepStrictEqual(textOf(standard), JSON.parse(JSON.stringify(bodyOf(failed))))
      const { code, error, message } = textOf(legacy)
      const { error: said } = bodyOf(failed)
      assert.deepStrictEqual([code, message], [said.code, said.message])
      assert.deepStrictEqual(error, said.code === "rate_limit_exceeded" ? said.code : said)
    }
  })
})

describe("bodies of failures", () => {
  it("list every invalid field, and name the first one in param", () => {
    const failed = invalid("a[0]", "too long", { field: "b", message: "missing" })
    assert.deepStrictEqual(bodyOf(failed), {
      error: {
        message: "`a[0]`: too long. `b`: missing.",
        type: "invalid_request_error",
        code: "validation_error",
        param: "a[0]"
      },
      details: [
        { field: "a[0]", message: "too long" },
        { field: "b", message: "missing" }
      ]
    })
    const silent = bodyOf(failure(samples.ProviderRefused))
    assert.deepStrictEqual([silent.details, silent.error.param], [[], null])
    const { details, error } = bodyOf(failure({ ...samples.ProviderRefused, param: "seed" }))
    assert.deepStrictEqual([details?.[0]?.field, error.param], ["seed", "seed"])
  })

  it("name the position of the invalid part of a body", () => {
    const at = "requests[1].body"
    const wrong = bodyOf(failedAt(at, invalid("a", "is wrong", { field: "b", message: "too" })))
    assert.deepInclude(wrong.error, { param: `${at}.a`, message: `\`${at}.a\` is wrong. \`${at}.b\`: too.` })
    assert.deepStrictEqual(
      wrong.details?.map(({ field }) => field),
      [`${at}.a`, `${at}.b`]
    )
    const model = bodyOf(failedAt(at, failure({ _tag: "UnknownModel", model: "m" })))
    assert.strictEqual(model.error.param, `${at}.model`)
    const none = bodyOf(failedAt(at, failure({ _tag: "NotFound", what: "preset", id: "p" })))
    assert.strictEqual(none.error.param, at)
  })

  it("do not grow with the size of the rejected value", () => {
    const long = "x".repeat(1_000_000)
    const failed = invalid(long, long, { field: long, message: "\u{1F600}".repeat(1_000_000) })
    const body = bodyOf(failed)
    assert.isAtMost(JSON.stringify(body).length, 10_000)
    assert.isAtMost(body.error.message.length, 2_000)
    assert.strictEqual(body.error.param, body.details?.[0]?.field)
    for (const { field, message } of body.details ?? []) assert.isTrue(`${field}${message}`.isWellFormed())
    const sent = bodyOf(failure({ _tag: "UnsupportedParameter", param: long, detail: long }))
    assert.isAtMost(JSON.stringify(sent).length, 3_000)
  })

  it("of insufficient_credits name the limit that was reached", () => {
    const zero = bodyOf(credits({ posted: 0n, available: 0n }))
    assert.strictEqual(zero.error.message, bodyOf(credits({ posted: 0n, available: 0n, needed: 1n })).error.message)
    assert.strictEqual(zero.limit_source, "balance")
    const little = bodyOf(credits({ available: 10_000_000n })).error.message
    assert.include(little, "$2.50")
    assert.include(little, "$0.01")
    for (const limitSource of ["balance", "in_flight", "key_budget", "project_budget"] as const) {
      const failed = credits({ limitSource })
      assert.strictEqual(bodyOf(failed).limit_source, limitSource)
      const passing = limitSource === "in_flight"
      assert.strictEqual(headersOf(failed)["retry-after"], passing ? "1" : undefined)
      assert.strictEqual(headersOf(failed)["x-should-retry"], String(passing))
    }
  })

  it("of an answer that was not stored include the id of its request", () => {
    assert.strictEqual(bodyOf(failure(samples.IdempotencyResultUnavailable)).request_id, "req_1")
  })

  it("contain no other fields", () => {
    for (const failed of all) {
      const allowed = ["error", "details", "limit_source", "failed_index", "upstream_rate_limited", "request_id"]
      for (const name of Object.keys(bodyOf(failed))) assert.include(allowed, name)
      const validation = table[failed.reason._tag].code === "validation_error"
      assert.strictEqual("details" in bodyOf(failed), validation, failed.reason._tag)
    }
  })
})
