import { Schema } from "effect"
import { orNull, textOf } from "../Bounds.ts"

/**
 * Caches the prompt up to and including this block at the provider, for five minutes or an hour. Writing it for an hour costs more if
 * the provider's price list says so.
 */
export const MessagesCacheControl = Schema.Struct({
  type: Schema.Literal("ephemeral"),
  /** Default: `5m`. */
  ttl: orNull(Schema.Literals(["5m", "1h"])),
  /** How widely Anthropic shares the cached prompt. Passed on when `anthropic-beta` asks for it. 1 to 64 characters. */
  scope: orNull(textOf(1, 64))
}).annotate({ identifier: "MessagesCacheControl" })

/** The field with which a block or a tool of a prompt can end a cached part. */
export const cacheable = { cache_control: orNull(MessagesCacheControl) }
