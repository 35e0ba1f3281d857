/** Signatures of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks), symmetric ones of version 1. */
import { Redacted } from "effect"
import { createHmac } from "node:crypto"

const PREFIX = "whsec_"

/** How many random bytes a secret has. */
export const SECRET_BYTES = 32

/** A secret as it is shown to whoever is to verify with it. */
export const secretOf = (random: Uint8Array): Redacted.Redacted =>
  Redacted.make(PREFIX + Buffer.from(random).toString("base64"))

/** What is signed. */
export interface Signed {
  /** The same for every attempt. */
  readonly id: string
  /** Of this attempt, in Unix seconds. */
  readonly timestamp: number
  /** Byte for byte as it is sent. */
  readonly body: string
}

const sign = (secret: Redacted.Redacted, { body, id, timestamp }: Signed): string => {
  const key = Buffer.from(Redacted.value(secret).slice(PREFIX.length), "base64")
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`
}

/** The headers of an attempt, with a signature by each of the secrets: a receiver takes any of them. */
export const signatureHeaders = (
  secrets: ReadonlyArray<Redacted.Redacted>,
  signed: Signed
): Record<string, string> => ({
  "webhook-id": signed.id,
  "webhook-timestamp": String(signed.timestamp),
  "webhook-signature": secrets.map((secret) => sign(secret, signed)).join(" ")
})
