import { Schema } from "effect"
import { ResourceId } from "../Ids.ts"
import { AuditLog } from "../management/Audit.ts"

/** A change by an operator: of an account, or of what concerns no single account, such as a price plan. It never changes. */
export const OperatorChange = Schema.Struct({
  ...AuditLog.fields,
  /** The operator key, or `command-line` for the admin command. */
  actor: Schema.Struct({
    type: Schema.Literal("operator"),
    /** The id of the operator key, or `command-line`. */
    id: Schema.String,
    /** The name of the operator key; null for the admin command. */
    name: Schema.NullOr(Schema.String)
  }),
  /** The changed account; null for a change that concerns no single one. */
  account_id: Schema.NullOr(ResourceId),
  /** The address of that account's owner. */
  email: Schema.NullOr(Schema.String)
}).annotate({ identifier: "OperatorChange" })
export type OperatorChange = typeof OperatorChange.Type

/** One page of operators' changes, newest first. `next_cursor` is null on the last page. */
export const OperatorChangeList = Schema.Struct({
  object: Schema.Literal("list"),
  /** The entries of the page. */
  data: Schema.Array(OperatorChange),
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: Schema.NullOr(ResourceId)
}).annotate({ identifier: "OperatorChangeList" })
