import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { verifyWebhook } from "../../src/client/Webhook.ts"
import { secretOf, signatureHeaders } from "../../src/webhooks/Signature.ts"
import { Redacted } from "effect"

const secrets = [1, 2].map((seed) => secretOf(new Uint8Array(32).fill(seed)))
const body = JSON.stringify({ type: "video.completed", data: { id: "ü" } })
const timestamp = 1_800_000_000
const at = (seconds: number) => new Date((timestamp + seconds) * 1_000)

describe("the client's check of a webhook", () => {
  it.effect("accepts a signature with the endpoint's secret, also during a rotation, and rejects everything else", () =>
    Effect.promise(async () => {
      const headers = signatureHeaders(secrets, { id: "msg_1", timestamp, body })
      const [secret = "", other = ""] = secrets.map(Redacted.value)
      for (const one of [secret, other]) {
        assert.deepStrictEqual(await verifyWebhook({ body, headers, secret: one }, at(299)), JSON.parse(body))
      }
      assert.deepStrictEqual(
        await verifyWebhook({ body, headers: new Headers(headers), secret }, at(-299)),
        JSON.parse(body)
      )
      const refused = async (given: Partial<Parameters<typeof verifyWebhook>[0]>, seconds = 0) => {
        try {
          await verifyWebhook({ body, headers, secret, ...given }, at(seconds))
        } catch (error) {
          return String(error)
        }
        return assert.fail(`accepted: ${JSON.stringify(given)} at ${seconds}`)
      }
      assert.include(await refused({ body: `${body} ` }), "webhook-signature")
      assert.include(await refused({ secret: Redacted.value(secretOf(new Uint8Array(32))) }), "webhook-signature")
      assert.include(await refused({ headers: { ...headers, "webhook-id": "msg_2" } }), "webhook-signature")
      assert.include(await refused({ headers: { ...headers, "webhook-signature": "v1,? v2,x" } }), "webhook-signature")
      assert.include(await refused({ headers: {} }), "webhook-timestamp")
      assert.include(await refused({}, 301), "webhook-timestamp")
    })
  )
})
