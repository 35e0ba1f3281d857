import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OwnerAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { operation } from "../Operation.ts"
import { NewTopUp, TopUpList, TopUpPage, TopUpReport } from "./TopUps.ts"

const params = {
  /** The id of a top-up. */
  top_up_id: ResourceId
}

const reads = { limit: "console_reads", charge: "free" } as const
const writes = { limit: "console_writes", charge: "free" } as const

/** Payments of owners. */
export class ConsoleTopUpsGroup extends HttpApiGroup.make("consoleTopUps")
  .add(
    HttpApiEndpoint.post("createTopUp", "/console/top-ups", {
      headers: idempotency,
      payload: NewTopUp,
      success: TopUpReport,
      error: [ConflictError, IdempotencyError]
    }).annotateMerge(operation("console.top_ups.create", "Create a top-up with a checkout URL", writes)),
    HttpApiEndpoint.get("listTopUps", "/console/top-ups", { query: TopUpPage, success: TopUpList }).annotateMerge(
      operation("console.top_ups.list", "List top-ups, newest first", reads)
    ),
    HttpApiEndpoint.get("getTopUp", "/console/top-ups/:top_up_id", {
      params,
      success: TopUpReport,
      error: NotFoundError
    }).annotateMerge(operation("console.top_ups.get", "Retrieve a top-up", reads)),
    HttpApiEndpoint.post("simulateTopUp", "/console/top-ups/:top_up_id/simulate", {
      params,
      headers: idempotency,
      success: TopUpReport,
      error: [NotFoundError, ConflictError, IdempotencyError]
    }).annotateMerge(operation("console.top_ups.simulate", "Pay a sandbox top-up with simulated money", writes))
  )
  .middleware(OwnerAccess) {}
