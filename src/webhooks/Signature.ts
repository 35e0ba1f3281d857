/** Signatures of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks): symmetric, version 1. */
import { Redacted } from "effect"
import { createHmac } from "node:crypto"

const PREFIX = "whsec_"

/** The length of a new secret, in bytes. */
export const SECRET_BYTES = 32

/** Returns a secret in the form that a receiver verifies with. */
export const secretOf = (random: Uint8Array): Redacted.Redacted =>
  Redacted.make(PREFIX + Buffer.from(random).toString("base64"))

/** The signed content. */
export interface SignedContent {
  /** The id of the event. All attempts have the same one. */
  readonly id: string
  /** The time of this attempt, in Unix seconds. */
  readonly timestamp: number
  /** Exactly the bytes sent. */
  readonly body: string
}

const sign = (secret: Redacted.Redacted, { body, id, timestamp }: SignedContent): string => {
  const key = Buffer.from(Redacted.value(secret).slice(PREFIX.length), "base64")
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`
}

/** Returns the headers of an attempt. They carry one signature per secret, and a receiver may accept any of them. */
export const signatureHeaders = (
  secrets: ReadonlyArray<Redacted.Redacted>,
  signed: SignedContent
): Record<string, string> => ({
  "webhook-id": signed.id,
  "webhook-timestamp": String(signed.timestamp),
  "webhook-signature": secrets.map((secret) => sign(secret, signed)).join(" ")
})
