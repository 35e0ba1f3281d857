import { Schema } from "effect"
import { sized, storable } from "./Bounds.ts"

/** The form of a request's id, as messages state it. */
export const REQUEST_ID_FORM = "req_ and 26 digits or capital letters, without I, L, O and U"

/** `req_` and a 26-character ULID. Ids sort by time. */
export const RequestId = Schema.String.check(
  Schema.isPattern(/^req_[0-9A-HJKMNP-TV-Z]{26}$/, { message: `must be ${REQUEST_ID_FORM}` })
).annotate({ identifier: "RequestId" })

/** 24 lowercase hexadecimal characters that sort by time. */
export const ResourceId = Schema.String.check(
  Schema.isPattern(/^[0-9a-f]{24}$/, { message: "must be 24 hexadecimal characters" })
).annotate({ identifier: "ResourceId" })

/** A model id, a fallback chain of ids separated by commas, or a preset as `@slug`. */
export const ModelString = Schema.String.check(...sized(1, 160, "characters"), storable)
