/** Usage of a period. */
import { queryOptions } from "@tanstack/react-query"
import type { UsageBreakdownBucket, UsageBreakdownReport } from "../../client/Contract.ts"
import { api } from "./Client.ts"
import { type Dimension, HOUR, type Range, type Span, spanOf } from "./Series.ts"

/** The most pages of one read: a chart needs no more groups than these hold. */
const MOST_PAGES = 20

/** The gateway reads the usage of an account one at a time, so reads wait for each other here and not there. */
const queue: { last: Promise<unknown> } = { last: Promise.resolve() }

/** Reads when it is the turn of this read. */
export const inTurn = <A>(read: () => Promise<A>): Promise<A> => {
  const next = queue.last.then(read, read)
  queue.last = next.catch(() => undefined)
  return next
}

export interface UsageRead {
  readonly totals: UsageBreakdownReport["totals"]
  readonly buckets: ReadonlyArray<UsageBreakdownBucket>
}

const read = async ({ end, start, width }: Span, by: Dimension, most: number): Promise<UsageRead> => {
  const query = {
    start_time: start,
    end_time: end,
    group_by: [by],
    limit: most === 0 ? 1 : 100,
    bucket_width: width === HOUR ? "1h" : "1d"
  } as const
  let page = await api.call("management.usage", { query })
  const buckets = [...page.data]
  for (let pages = 1; pages < most && page.next_cursor !== null; pages++) {
    page = await api.call("management.usage", { query: { ...query, cursor: page.next_cursor } })
    buckets.push(...page.data)
  }
  return { totals: page.totals, buckets }
}

/** What was used in a range, by one dimension. */
export const usageQuery = (range: Range, by: Dimension) =>
  queryOptions({
    queryKey: ["usage", range, by],
    refetchInterval: 60_000,
    queryFn: async () => {
      const span = spanOf(range, Date.now() / 1_000)
      return { span, ...(await inTurn(() => read(span, by, MOST_PAGES))) }
    }
  })
