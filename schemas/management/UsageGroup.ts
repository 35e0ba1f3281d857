import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ManagementAccess } from "../Access.ts"
import { operation } from "../Operation.ts"
import { UsageBreakdownQuery, UsageBreakdownReport } from "./Usage.ts"
import { UsageSeriesQuery, UsageSeriesReport } from "./UsageSeries.ts"

const reads = { limit: "management_reads", charge: "free", scope: "usage:read" } as const

/** The account's usage. */
export class ManagementUsageGroup extends HttpApiGroup.make("managementUsage")
  .add(
    HttpApiEndpoint.get("getUsage", "/management/usage", {
      query: UsageBreakdownQuery,
      success: UsageBreakdownReport
    }).annotateMerge(operation("management.usage", "Usage by project, key, model and provider, in buckets", reads)),
    HttpApiEndpoint.get("getUsageSeries", "/management/usage/series", {
      query: UsageSeriesQuery,
      success: UsageSeriesReport
    }).annotateMerge(operation("management.usage.series", "Usage over time, divided into its largest groups", reads))
  )
  .middleware(ManagementAccess) {}
