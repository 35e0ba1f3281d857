import { Schema } from "effect"
import { ResourceId } from "../Ids.ts"

/** A signed-in operator. The session acts with the key that began it and ends with that key at the latest. */
export const OperatorSession = Schema.Struct({
  object: Schema.Literal("operator_session"),
  /** The operator key that began the session. */
  key: Schema.Struct({
    id: ResourceId,
    /** The name of the key. */
    name: Schema.String
  }),
  /** Must be sent as `X-CSRF-Token` with every method other than GET. */
  csrf_token: Schema.String,
  /** When it ends even if it is used, in Unix seconds. */
  ends_at: Schema.Int
}).annotate({ identifier: "OperatorSession" })
export type OperatorSession = typeof OperatorSession.Type

/** The confirmation that an operator has signed out. */
export const OperatorSessionEnded = Schema.Struct({
  object: Schema.Literal("operator_session"),
  ended: Schema.Literal(true)
}).annotate({ identifier: "OperatorSessionEnded" })
