/** Reads the ledger of a month from the transactions and the usage of the account. */
import { queryOptions } from "@tanstack/react-query"
import type { Transaction, UsageSeriesReport } from "../../client/Contract.ts"
import { api } from "./Client.ts"
import { ledgerOf, spansFrom, timesOfMonth } from "./Statement.ts"
import { inTurn } from "./UsageQueue.ts"

const PAGE = 100

/** The transactions since a moment, newest first. */
const transactionsSince = async (start: number): Promise<ReadonlyArray<Transaction>> => {
  const found: Array<Transaction> = []
  for await (const one of api.list("management.transactions", { query: { limit: PAGE } })) {
    if (one.created_at < start) break
    found.push(one)
  }
  return found
}

/** The ledger of a month, as `YYYY-MM`. */
export const ledgerQuery = (month: string) =>
  queryOptions({
    queryKey: ["usage", "ledger", month],
    queryFn: async () => {
      const times = timesOfMonth(month)
      const end = Math.floor(Date.now() / 1_000) + 1
      const usage: Array<UsageSeriesReport> = []
      for (const span of spansFrom(times.start, end)) {
        const query = { start_time: span.start, end_time: span.end, interval: "day" } as const
        usage.push(await inTurn(() => api.call("management.usage.series", { query })))
      }
      const [transactions, { data: funds }] = [
        await transactionsSince(times.start),
        await api.call("management.balance")
      ]
      return ledgerOf({ balance: funds.balance_usd, month: times, transactions, usage })
    }
  })
