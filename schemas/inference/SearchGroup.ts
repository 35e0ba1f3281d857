import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { idempotency, paidErrors } from "./ChatGroup.ts"
import { SearchRequest, SearchResponse } from "./Search.ts"

/** Web search. */
export class SearchGroup extends HttpApiGroup.make("search")
  .add(
    HttpApiEndpoint.post("search", "/search", {
      headers: idempotency,
      payload: SearchRequest,
      success: SearchResponse,
      error: paidErrors
    }).annotateMerge(operation("search", "Search the web", { limit: "search", charge: "requests" }))
  )
  .middleware(InferenceAccess) {}
