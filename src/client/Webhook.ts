/** Verifies webhooks according to Standard Webhooks: https://github.com/standard-webhooks/standard-webhooks. */

const TOLERANCE_SECONDS = 300

/** Headers as a `Headers` object or as Node's `request.headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const headerOf = (headers: WebhookHeaders, name: string): string => {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  return typeof value === "string" ? value : (value?.[0] ?? "")
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

/**
 * Returns the event of a webhook with a valid signature. `secret` is the endpoint's secret (`whsec_…`) and `body` the exact text of the
 * request body. Throws an `Error` when no signature is valid, or when the webhook's time is more than five minutes from `now`.
 */
export const verifyWebhook = async <Event = unknown>(
  { body, headers, secret }: { readonly body: string; readonly headers: WebhookHeaders; readonly secret: string },
  now: Date = new Date()
): Promise<Event> => {
  const id = headerOf(headers, "webhook-id")
  const timestamp = headerOf(headers, "webhook-timestamp")
  const age = Math.abs(now.getTime() / 1_000 - Number(timestamp))
  if (timestamp === "" || !(age <= TOLERANCE_SECONDS)) {
    throw new Error(`\`webhook-timestamp\` must be within ${TOLERANCE_SECONDS} seconds of now; got "${timestamp}"`)
  }
  const bytes = bytesOf(secret.replace(/^whsec_/, ""))
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const signature of headerOf(headers, "webhook-signature").split(" ")) {
    const [version, value] = signature.split(",", 2)
    if (version !== "v1" || value === undefined) continue
    let claimed: Uint8Array<ArrayBuffer>
    try {
      claimed = bytesOf(value)
    } catch {
      continue
    }
    if (await crypto.subtle.verify("HMAC", key, claimed, signed)) return JSON.parse(body) as Event
  }
  throw new Error("`webhook-signature` must hold a signature of this body by the endpoint's secret")
}
