import { Schema } from "effect"
import { ResourceId } from "./Ids.ts"

/** The number of entries on a page: 1 to 100; default 50. */
export const Limit = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 100 }, { message: "must be an integer from 1 to 100" })
)

/** The number of entries on a page when a request sets no `limit`. */
export const DEFAULT_LIMIT = 50

/** The page of a list, newest first, whose entries have resource ids. */
export const ResourcePage = {
  limit: Schema.optionalKey(Limit),
  /** The `next_cursor` of the previous page. */
  cursor: Schema.optionalKey(ResourceId)
}
