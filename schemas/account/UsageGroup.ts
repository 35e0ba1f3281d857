import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AccountAccess, InferenceAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { KeyReport } from "./Key.ts"
import { UsageQuery, UsageReport } from "./Usage.ts"

/** The account's usage, and the limits of the calling key. */
export class UsageGroup extends HttpApiGroup.make("usage").add(
  HttpApiEndpoint.get("getUsage", "/usage", { query: UsageQuery, success: UsageReport })
    .annotateMerge(operation("usage", "Usage of a period, in buckets", { limit: "default", charge: "free" }))
    .middleware(AccountAccess),
  HttpApiEndpoint.get("getKey", "/key", { success: KeyReport })
    .annotateMerge(operation("key", "The calling key, its limits and its spend", { limit: "default", charge: "free" }))
    .middleware(InferenceAccess)
) {}
