import { Schema } from "effect"

/** The number of entries on a page: 1 to 100; default 50. */
export const Limit = Schema.Int.check(
  Schema.isBetween({ minimum: 1, maximum: 100 }, { message: "must be an integer from 1 to 100" })
)

/** The number of entries on a page when a request sets no `limit`. */
export const DEFAULT_LIMIT = 50
