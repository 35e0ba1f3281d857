import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import OpenAI from "openai"
import { Webhook } from "standardwebhooks"
import { SECRET_BYTES, secretOf, signatureHeaders } from "../../src/webhooks/Signature.ts"

const signed = () => ({
  id: "evt_1",
  timestamp: Math.floor(Date.now() / 1_000),
  body: JSON.stringify({ id: "evt_1", object: "event", type: "video.completed", data: { text: "ä€😀" } })
})

const verify = (secret: Redacted.Redacted, headers: Record<string, string>, body: string) =>
  new Webhook(Redacted.value(secret)).verify(body, headers)

describe("signatures", () => {
  const [secret, other] = [secretOf(randomBytes(SECRET_BYTES)), secretOf(randomBytes(SECRET_BYTES))]

  it("match the specification's example", () => {
    // From the specification's own test data: `MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`.
    const known = Redacted.make("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    const headers = signatureHeaders([known], {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}'
    })
    assert.strictEqual(headers["webhook-signature"], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  })

  it("are accepted by the standard's library and by OpenAI's client", async () => {
    const message = signed()
    const headers = signatureHeaders([secret], message)
    assert.match(Redacted.value(secret), /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepStrictEqual(verify(secret, headers, message.body), JSON.parse(message.body))
    const client = new OpenAI({ apiKey: "none" })
    const event: unknown = await client.webhooks.unwrap(message.body, headers, Redacted.value(secret))
    assert.deepStrictEqual(event, JSON.parse(message.body))
  })

  it("are refused for another body, ID, moment or secret", () => {
    const message = signed()
    const headers = signatureHeaders([secret], message)
    assert.throws(() => verify(secret, headers, `${message.body} `))
    assert.throws(() => verify(secret, { ...headers, "webhook-id": "evt_2" }, message.body))
    assert.throws(() =>
      verify(secret, { ...headers, "webhook-timestamp": String(message.timestamp + 1) }, message.body)
    )
    assert.throws(() => verify(other, headers, message.body))
  })

  it("are two while a secret is replaced, each valid by itself", () => {
    const message = signed()
    const headers = signatureHeaders([secret, other], message)
    assert.match(headers["webhook-signature"] ?? "", /^v1,\S+ v1,\S+$/)
    verify(secret, headers, message.body)
    verify(other, headers, message.body)
  })
})
