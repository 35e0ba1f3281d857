import { Schema } from "effect"
import { Count, isStorable, STORABLE, storable, textOf, Usd } from "../Bounds.ts"
import { ModelString, ResourceId } from "../Ids.ts"
import { ChatCompletion } from "./ChatCompletions.ts"

/** The maximum size of `metadata` as JSON, in bytes: 16 KiB. */
export const MAX_METADATA_BYTES = 16_384

/** Data of the client's own, which the service does not read: at most 16 KiB as JSON. */
const Metadata = Schema.Record(Schema.String, Schema.Json)

/** The client's name of a session. */
const SessionName = textOf(1, 256).check(storable)

/** Opens a session. If the account has already used this `session_id`, the response is that session, unchanged. */
export const SessionRequest = Schema.Struct({
  /** The client's name of the session, 1 to 256 characters. */
  session_id: Schema.optionalKey(Schema.NullOr(SessionName)),
  metadata: Schema.optionalKey(
    Schema.NullOr(
      Metadata.check(
        Schema.makeFilter(
          (metadata) => new TextEncoder().encode(JSON.stringify(metadata)).length <= MAX_METADATA_BYTES,
          {
            message: `must have at most ${MAX_METADATA_BYTES.toLocaleString("en-US")} bytes as JSON`
          }
        ),
        Schema.makeFilter<object>(isStorable, { message: STORABLE })
      )
    )
  ),
  /** The intended model of the session. Every request names its own. */
  model: Schema.optionalKey(Schema.NullOr(ModelString))
}).annotate({ identifier: "SessionRequest" })

/** A recorded conversation of the legacy chat. Times are Unix seconds. */
export const Session = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("session"),
  /** When the session was opened. */
  created_at: Schema.Int,
  /** When a message was last added. */
  updated_at: Schema.Int,
  /** The client's name of the session; null without one. */
  session_id: Schema.NullOr(Schema.String),
  /** The intended model; null without one. */
  model: Schema.NullOr(Schema.String),
  metadata: Metadata,
  /** The number of messages. */
  message_count: Count
}).annotate({ identifier: "Session" })
export type Session = typeof Session.Type

/**
 * A message of a session, as it was sent, except that data URLs are replaced by their type and size: `data:image/png (48213 bytes)`. An
 * answer also contains its model, its usage and its cost.
 */
export const SessionMessage = Schema.Struct({
  /** The role of the message, such as `user`. */
  role: Schema.String,
  /** A text, or its parts. */
  content: Schema.Json,
  /** Unix seconds. */
  created_at: Schema.Int,
  /** The model that served, of an answer. */
  model: Schema.optionalKey(Schema.String),
  usage: Schema.optionalKey(ChatCompletion.fields.usage),
  /** The charge in USD, of an answer. */
  cost_usd: Schema.optionalKey(Usd)
}).annotate({ identifier: "SessionMessage" })
export type SessionMessage = typeof SessionMessage.Type

/** A session with all its messages, in order. Times are Unix seconds. */
export const SessionExport = Schema.Struct({
  object: Schema.Literal("session.export"),
  session: Session,
  /** The messages, in order. */
  messages: Schema.Array(SessionMessage),
  /** When this export was made. */
  exported_at: Schema.Int
}).annotate({ identifier: "SessionExport" })
