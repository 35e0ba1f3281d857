import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountAccess } from "../Access.ts"
import { NotFoundError } from "../Errors.ts"
import { RequestId } from "../Ids.ts"
import { operation } from "../Operation.ts"
import { RequestList, RequestListQuery, RequestReceipt } from "./Requests.ts"

/** Receipts of the account's paid requests. */
export class RequestsGroup extends HttpApiGroup.make("requests")
  .add(
    HttpApiEndpoint.get("listRequests", "/requests", { query: RequestListQuery, success: RequestList }).annotateMerge(
      operation("requests.list", "List receipts, newest first", { limit: "default", charge: "free" })
    ),
    HttpApiEndpoint.get("getRequest", "/requests/:request_id", {
      params: {
        /** The id of a request, which every response has in `X-Request-ID`. */
        request_id: RequestId
      },
      success: RequestReceipt,
      error: NotFoundError
    }).annotateMerge(operation("requests.get", "Retrieve a receipt", { limit: "default", charge: "free" }))
  )
  .middleware(AccountAccess) {}
