import { Context, Effect, Layer, Redacted } from "effect"
import type { ReasoningPart } from "../domain/Conversation.ts"
import type { OpenReasoning } from "../domain/Reasoning.ts"
import { Secrets } from "../platform/Secrets.ts"

/** The longest seal that is issued or accepted, in characters. A longer block is returned without a seal. */
export const MAX_SEAL_LENGTH = 1_048_576

/** The longest text that can be sealed, in bytes: base64 takes four characters for three bytes, and a nonce and a tag are added. */
export const MAX_SEALED_BYTES = (MAX_SEAL_LENGTH / 4) * 3 - 64

/** The first element of a sealed list, which determines the meaning of the others. */
const VERSION = 1

/** The sealed data, in the order of its JSON. */
type SealContents = readonly [
  version: typeof VERSION,
  provider: string,
  model: string,
  place: readonly [text: number, calls: number],
  text: string,
  data?: Readonly<Record<string, unknown>>
]

/** A reasoning block with the provider and model that made it. */
export type OwnedReasoning = Required<Pick<ReasoningPart, "origin" | "place" | "text">>

const purposeOf = (accountId: string): string => `reasoning ${accountId}`

/**
 * Seals reasoning for clients, and opens the seals that clients send back. A seal contains the text and the provider's own data,
 * encrypted and authenticated with the service's secrets key. It is bound to an account, and names the provider and model that made it.
 * The service stores none of it.
 */
export class ReasoningSeals extends Context.Service<
  ReasoningSeals,
  {
    /** Undefined for a block that is too large. */
    readonly seal: (accountId: string, block: OwnedReasoning) => string | undefined
    /** Opens what was sealed for an account. */
    readonly openFor: (accountId: string) => OpenReasoning
  }
>()("tollgate/inference/ReasoningSeals") {
  static readonly layer = Layer.effect(
    ReasoningSeals,
    Effect.map(Secrets, (secrets) =>
      ReasoningSeals.of({
        seal: (accountId, { origin, place, text }) => {
          const { data, model, provider } = origin
          const known: SealContents = [VERSION, provider, model, [place.text, place.calls], text]
          const json = JSON.stringify(data === undefined ? known : [...known, data])
          if (Buffer.byteLength(json) > MAX_SEALED_BYTES) return undefined
          return Buffer.from(secrets.seal(Redacted.make(json), purposeOf(accountId))).toString("base64")
        },
        openFor: (accountId) => (seal) => {
          if (seal.length > MAX_SEAL_LENGTH) return undefined
          const opened = secrets.open(Buffer.from(seal, "base64"), purposeOf(accountId))
          return opened === undefined ? undefined : partOf(JSON.parse(Redacted.value(opened)) as SealContents)
        }
      })
    )
  )
}

const partOf = ([version, provider, model, [before, calls], text, data]: SealContents): ReasoningPart | undefined =>
  version === VERSION
    ? {
        text,
        place: { text: before, calls },
        origin: data === undefined ? { provider, model } : { provider, model, data }
      }
    : undefined
