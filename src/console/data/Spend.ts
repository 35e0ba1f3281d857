/** Reads the spend of each key or project in 30 days. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "./Client.ts"
import { inTurn } from "./UsageQueue.ts"

/** The maximum number of groups to which the gateway gives a series of their own. */
export const MAX_GROUPS = 20

export const spendQuery = (by: "key" | "project") =>
  queryOptions({
    queryKey: ["usage", "spend", by],
    staleTime: 60_000,
    queryFn: () =>
      inTurn(() =>
        api.call("management.usage.series", {
          query: { period: "30d", interval: "day", group_by: by, top: MAX_GROUPS }
        })
      )
  })
