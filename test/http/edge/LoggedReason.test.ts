import { assert, describe, it } from "@effect/vitest"
import { failure, type Reason } from "../../../src/domain/Failure.ts"
import { messageOf } from "../../../src/http/FailureRows.ts"
import { loggedReason } from "../../../src/http/edge/LoggedReason.ts"

const logged = (reason: Reason, log?: unknown) => loggedReason(failure(reason, log), messageOf(reason))

describe("loggedReason", () => {
  it("quotes neither the caller nor a provider", () => {
    const secret = "TOP SECRET"
    const reasons: ReadonlyArray<Reason> = [
      { _tag: "InvalidJson", detail: secret },
      { _tag: "ValidationError", problems: [{ field: secret, message: secret }] },
      { _tag: "UnsupportedParameter", param: secret, detail: secret },
      { _tag: "UnknownModel", model: secret },
      { _tag: "UnknownRoute", method: "GET", path: secret },
      { _tag: "NotFound", what: "key", id: secret },
      { _tag: "ProviderRefused", provider: "openai", detail: secret },
      { _tag: "ProviderOverflow", provider: "openai", detail: secret },
      { _tag: "ContentPolicyViolation", provider: "openai", detail: secret },
      { _tag: "GenerationFailed", detail: secret },
      { _tag: "BatchRequestFailed", index: 2, detail: secret },
      { _tag: "NoProviderAvailable", detail: "providers.only excludes 3", unknownProviders: [secret] },
      { _tag: "UpstreamError", detail: secret }
    ]
    for (const reason of reasons) {
      assert.include(messageOf(reason), secret, reason._tag)
      assert.notInclude(logged(reason), secret)
      assert.isAbove(logged(reason).length, 5)
    }
  })

  it("names plausible field names only", () => {
    const problems = [
      { field: "messages[0].role", message: "x" },
      { field: "n", message: "x" }
    ] as const
    assert.strictEqual(logged({ _tag: "ValidationError", problems }), "invalid messages[0].role, n")
  })

  it("describes each provider's failure without its message", () => {
    const log = [
      { provider: "openai", model: "m", fault: { _tag: "ServerError", status: 503, detail: "TOP SECRET" } },
      { provider: "azure", model: "m", fault: { _tag: "TimedOut", clock: "first_token" } },
      { provider: "groq", model: "m", fault: undefined },
      { provider: "xai", model: "m", fault: { _tag: "Refused", status: 400, detail: "TOP SECRET" } },
      { provider: "mistral", model: "m", fault: { _tag: "Refused", status: 200, detail: "TOP SECRET" } }
    ]
    assert.strictEqual(
      logged({ _tag: "UpstreamError", detail: "TOP SECRET" }, log),
      "no provider could serve the request (openai answered 503; azure timed out (first token); groq returned an empty answer; xai answered 400; mistral filtered its whole answer)"
    )
  })

  it("keeps the message of the other reasons", () => {
    assert.strictEqual(logged({ _tag: "InvalidApiKey" }), messageOf({ _tag: "InvalidApiKey" }))
  })
})
