import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OwnerAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { operation } from "../Operation.ts"
import { NewTopUp, TopUpList, TopUpPage, TopUpReport } from "./TopUps.ts"

const params = { top_up_id: ResourceId }

const reads = { limit: "console_reads", charge: "free" } as const
const writes = { limit: "console_writes", charge: "free" } as const

/** Money that owners pay in. */
export class ConsoleTopUpsGroup extends HttpApiGroup.make("consoleTopUps")
  .add(
    HttpApiEndpoint.post("createTopUp", "/console/top-ups", {
      headers: idempotency,
      payload: NewTopUp,
      success: TopUpReport,
      error: [ConflictError, IdempotencyError]
    }).annotateMerge(operation("console.top_ups.create", "Open a checkout to pay money in at", writes)),
    HttpApiEndpoint.get("listTopUps", "/console/top-ups", { query: TopUpPage, success: TopUpList }).annotateMerge(
      operation("console.top_ups.list", "List what was paid in, newest first", reads)
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
    }).annotateMerge(operation("console.top_ups.simulate", "Pay a top-up of the sandbox", writes))
  )
  .middleware(OwnerAccess) {}
