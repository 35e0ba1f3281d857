import { Schema } from "effect"
import { Count, isStorable, STORABLE, storable, textOf, Usd } from "../Bounds.ts"
import { ModelString, ResourceId } from "../Ids.ts"
import { ChatCompletion } from "./ChatCompletions.ts"

/** The most bytes that `metadata` may have as JSON: 16 KiB. */
export const MAX_METADATA_BYTES = 16_384

/** What the caller wants to remember of a session; the service does not look at it. */
const Metadata = Schema.Record(Schema.String, Schema.Json)

/** The caller's own name of a session. */
const SessionName = textOf(1, 256).check(storable)

/** Opens a session. With a `session_id` that the account has used before, the request gives back that session as it is. */
export const SessionRequest = Schema.Struct({
  session_id: Schema.optionalKey(Schema.NullOr(SessionName)),
  metadata: Schema.optionalKey(
    Schema.NullOr(
      Metadata.check(
        Schema.makeFilter(
          (metadata) => new TextEncoder().encode(JSON.stringify(metadata)).length <= MAX_METADATA_BYTES,
          {
            message: `at most ${MAX_METADATA_BYTES} bytes as JSON`
          }
        ),
        Schema.makeFilter<object>(isStorable, { message: STORABLE })
      )
    )
  ),
  /** The model that the session is meant for; every request names its own. */
  model: Schema.optionalKey(Schema.NullOr(ModelString))
}).annotate({ identifier: "SessionRequest" })

/** A recorded conversation of the legacy chat. Times are Unix seconds. */
export const Session = Schema.Struct({
  id: ResourceId,
  object: Schema.Literal("session"),
  created_at: Schema.Int,
  /** When it was last added to. */
  updated_at: Schema.Int,
  session_id: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  metadata: Metadata,
  message_count: Count
}).annotate({ identifier: "Session" })
export type Session = typeof Session.Type

/**
 * A message of a session as it was written, but for data URLs, of which it has the type and size: `data:image/png (48213 bytes)`. An
 * answer has its model, its usage and what it cost.
 */
export const SessionMessage = Schema.Struct({
  role: Schema.String,
  content: Schema.Json,
  /** Unix seconds. */
  created_at: Schema.Int,
  model: Schema.optionalKey(Schema.String),
  usage: Schema.optionalKey(ChatCompletion.fields.usage),
  cost_usd: Schema.optionalKey(Usd)
}).annotate({ identifier: "SessionMessage" })
export type SessionMessage = typeof SessionMessage.Type

/** A session with all of its messages, in their order. Times are Unix seconds. */
export const SessionExport = Schema.Struct({
  object: Schema.Literal("session.export"),
  session: Session,
  messages: Schema.Array(SessionMessage),
  exported_at: Schema.Int
}).annotate({ identifier: "SessionExport" })
