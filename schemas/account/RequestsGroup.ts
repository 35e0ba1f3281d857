import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { InferenceAccess } from "../Access.ts"
import { NotFoundError } from "../Errors.ts"
import { RequestId } from "../Ids.ts"
import { RequestList, RequestListQuery, RequestReceipt } from "./Requests.ts"

/** Receipts of the account's paid requests. */
export class RequestsGroup extends HttpApiGroup.make("requests")
  .add(
    HttpApiEndpoint.get("listRequests", "/requests", { query: RequestListQuery, success: RequestList }).annotate(
      OpenApi.Summary,
      "List receipts, newest first"
    ),
    HttpApiEndpoint.get("getRequest", "/requests/:request_id", {
      params: { request_id: RequestId },
      success: RequestReceipt,
      error: NotFoundError
    }).annotate(OpenApi.Summary, "Retrieve a receipt")
  )
  .middleware(InferenceAccess) {}
