import { Schema } from "effect"
import { ResourceId } from "../Ids.ts"

/** What is told of a key that works no more from now on. */
export const KeyRevoked = Schema.Struct({
  data: Schema.Struct({ id: ResourceId, object: Schema.Literal("key"), status: Schema.Literal("revoked") })
}).annotate({ identifier: "KeyRevoked" })
