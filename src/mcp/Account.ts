/** The tools that read an account: its balance, its usage and its receipts. */
import { Effect, Schema } from "effect"
import { RequestList, RequestListQuery, RequestReceipt } from "../../schemas/account/Requests.ts"
import { UsageQuery, UsageReport } from "../../schemas/account/Usage.ts"
import { Api } from "../../schemas/Api.ts"
import { RequestId } from "../../schemas/Ids.ts"
import { BalanceReport } from "../../schemas/management/Account.ts"
import { Budgets } from "../account/Budgets.ts"
import { decoder } from "../dialects/Decode.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { usdFromNano } from "../domain/Money.ts"
import { fundsOf } from "../http/handlers/management/Account.ts"
import { receiptOf, requestListOf } from "../http/handlers/Requests.ts"
import { usageReportOf } from "../http/handlers/Usage.ts"
import { Ledger } from "../ledger/Ledger.ts"
import { Receipts } from "../usage/Receipts.ts"
import { Requests } from "../usage/Requests.ts"
import { Usage } from "../usage/Usage.ts"
import type { ToolOf } from "./Tool.ts"

/** The failure that a caller gets when the store cannot be reached. */
export const withStoreFailures = <A, E extends { readonly _tag: string }>(
  read: Effect.Effect<A, E | Failure>
): Effect.Effect<A, Failure> =>
  Effect.mapError(read, (error) =>
    error._tag === "Failure" ? (error as Failure) : failure({ _tag: "StoreUnavailable" }, error)
  )

const { starter_credit_usd: _, ...funds } = BalanceReport.fields.data.fields

const BalanceOutput = Schema.Struct({
  ...funds,
  /** What is left in the tightest budget of the key and its project; null without a budget. */
  budget_left_usd: Schema.NullOr(Schema.Finite)
})

const NoInput = Schema.Struct({})
const decodeNone = decoder(NoInput, { strict: true })

const getBalance = Effect.gen(function* () {
  const ledger = yield* Ledger
  const budgets = yield* Budgets
  return {
    name: "get_balance",
    title: "Get the balance",
    description:
      "Get the account's balance in US dollars: all of it, what running requests hold, what is available now, and what is left in the budget of this key. Check it before expensive work. Free.",
    input: NoInput,
    output: BalanceOutput,
    kind: "read",
    openWorld: false,
    like: Api.groups.usage.endpoints.getKey,
    run: ({ body, principal }) =>
      Effect.gen(function* () {
        yield* Effect.fromResult(decodeNone(body))
        const ids = principal.budgets.map(({ id }) => id)
        const read = [ledger.balance(principal.accountId), budgets.roomIn(ids)] as const
        const [balance, room] = yield* withStoreFailures(Effect.all(read, { concurrency: 2 }))
        const left = room === undefined ? null : usdFromNano(room)
        return { structured: { ...fundsOf(balance), budget_left_usd: left } }
      })
  } satisfies ToolOf
})

const UsageInput = Schema.Struct({
  period: UsageQuery.period.annotateKey({ description: "How far back to look: 1, 7 or 30 days. `30d` unless given." })
})
const decodeUsage = decoder(UsageInput, { strict: true })

const getUsage = Effect.gen(function* () {
  const ledger = yield* Ledger
  const usage = yield* Usage
  return {
    name: "get_usage",
    title: "Get usage",
    description:
      "Get what the account used and spent in the last 1, 7 or 30 days: totals, and a row for each model, provider and hour or day. Free.",
    input: UsageInput,
    output: UsageReport,
    kind: "read",
    openWorld: false,
    like: Api.groups.usage.endpoints.getUsage,
    run: ({ body, principal: { accountId } }) =>
      Effect.gen(function* () {
        const { period = "30d" } = yield* Effect.fromResult(decodeUsage(body))
        const read = [usage.ofAccount(accountId, period), ledger.balance(accountId)] as const
        const [used, balance] = yield* withStoreFailures(Effect.all(read, { concurrency: 2 }))
        return { structured: usageReportOf(period, used, balance?.posted ?? 0n) }
      })
  } satisfies ToolOf
})

const ListInput = Schema.Struct({
  limit: RequestListQuery.limit.annotateKey({ description: "How many receipts to list, 10 unless given." }),
  cursor: RequestListQuery.cursor.annotateKey({ description: "The `next_cursor` of the page before." }),
  model: RequestListQuery.model.annotateKey({ description: "Only requests for this model." }),
  status: RequestListQuery.status.annotateKey({ description: "Only requests with this status." })
})
const decodeListed = decoder(ListInput, { strict: true })

/** A receipt takes some hundred tokens of a model's context. */
const DEFAULT_LIMIT = 10

const listRequests = Effect.gen(function* () {
  const receipts = yield* Receipts
  return {
    name: "list_requests",
    title: "List paid requests",
    description:
      "List the receipts of the account's latest paid requests, newest first, whatever made them. Use it to find out what was called and what it cost. Free.",
    input: ListInput,
    output: RequestList,
    kind: "read",
    openWorld: false,
    like: Api.groups.requests.endpoints.listRequests,
    run: ({ body, principal: { accountId } }) =>
      Effect.gen(function* () {
        const { cursor, limit = DEFAULT_LIMIT, model, status } = yield* Effect.fromResult(decodeListed(body))
        if (model?.includes("\0") === true) return yield* invalid("model", "must contain no null characters")
        const page = yield* withStoreFailures(receipts.page(accountId, { limit, cursor, model, status }))
        return { structured: requestListOf(page) }
      })
  } satisfies ToolOf
})

const GetInput = Schema.Struct({
  request_id: RequestId.annotateKey({ description: "The `request_id` of a result, or the `id` of a listed receipt." })
})
const decodeGet = decoder(GetInput, { strict: true })

const getReceipt = Effect.gen(function* () {
  const requests = yield* Requests
  return {
    name: "get_receipt",
    title: "Get a receipt",
    description:
      "Get the receipt of one paid request: its status, model, provider, usage, price, and what was held, charged and refunded. Free.",
    input: GetInput,
    output: RequestReceipt,
    kind: "read",
    openWorld: false,
    like: Api.groups.requests.endpoints.getRequest,
    run: ({ body, principal: { accountId } }) =>
      Effect.gen(function* () {
        const { request_id: id } = yield* Effect.fromResult(decodeGet(body))
        const row = yield* withStoreFailures(requests.find(accountId, id))
        if (row === undefined) return yield* failure({ _tag: "NotFound", what: "request", id })
        return { structured: receiptOf(row) }
      })
  } satisfies ToolOf
})

/** `get_balance`, `get_usage`, `list_requests` and `get_receipt`. */
export const accountTools = Effect.all([getBalance, getUsage, listRequests, getReceipt])
