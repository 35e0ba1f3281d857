import { Effect, type Result } from "effect"
import {
  type ReportRow,
  type TopUpDecision,
  TopUpDismissal,
  TopUpSettlement
} from "../../../../schemas/operator/Money.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Customers } from "../../../billing/Customers.ts"
import { decoder } from "../../../dialects/Decode.ts"
import type { Failure } from "../../../domain/Failure.ts"
import { nanoFromUsd, usdFromNano } from "../../../domain/Money.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { Operator } from "../../../operator/Operator.ts"
import type { Page } from "../../../platform/database/Page.ts"
import type { TopUpLine } from "../../../operator/OperatorSql.ts"
import { marginBasisPoints, marginOf, Margins } from "../../../usage/Margins.ts"
import type { MarginRow } from "../../../usage/MarginsSql.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"
import { readJson } from "../../edge/Body.ts"
import { operations } from "../../edge/Operations.ts"
import { answer, makeMutate, pageOf } from "../management/Answers.ts"
import { asOperator, conflicts, referenceOf } from "./Answers.ts"

const figuresOf = (row: MarginRow) => ({
  requests: Number(row.requests),
  revenue_usd: usdFromNano(row.revenue),
  provider_cost_usd: usdFromNano(row.provider_cost),
  attempt_cost_usd: usdFromNano(row.attempt_cost),
  margin_usd: usdFromNano(marginOf(row)),
  margin_basis_points: marginBasisPoints(row),
  uncosted_requests: Number(row.uncosted),
  absorbed_usd: usdFromNano(row.absorbed)
})

const orNull = (text: string): string | null => (text === "" ? null : text)

const rowOf = (row: MarginRow): ReportRow => ({
  day: orNull(row.day),
  account_id: orNull(row.account),
  email: row.email,
  model: orNull(row.model),
  provider: orNull(row.provider),
  ...figuresOf(row)
})

const topUpOf = (line: TopUpLine) => ({
  id: line.id,
  object: "top_up",
  account_id: line.account_id,
  email: line.email,
  amount_usd: line.amount_cents / 100,
  credited_usd: line.credited_cents === null ? null : line.credited_cents / 100,
  refunded_usd: Number(line.refunded_cents) / 100,
  taken_back_usd: usdFromNano(line.taken_back),
  processor: line.processor,
  status: line.status,
  attention: line.attention,
  created_at: secondsOf(line.created_at),
  paid_at: secondsOf(line.paid_at)
})

const topUpListOf = ({ next, rows }: Page<TopUpLine>) => ({
  object: "list",
  data: rows.map(topUpOf),
  next_cursor: next
})

const decodeSettlement = decoder(TopUpSettlement, { strict: true })
const decodeDismissal = decoder(TopUpDismissal, { strict: true })

/** The decisions about top-ups, each with a line in the audit log of its account. */
const makeDecide = Effect.gen(function* () {
  const [customers, operator] = [yield* Customers, yield* Operator]
  const mutate = makeMutate(yield* Mutations)
  return (
    id: string,
    request: ApiRequest,
    action: "settled" | "dismissed",
    decode: (body: unknown) => Result.Result<{ readonly reason: string; readonly amount_usd?: number }, Failure>
  ) =>
    Effect.gen(function* () {
      const body = yield* readJson(request)
      const { amount_usd: usd, reason } = yield* Effect.fromResult(decode(body))
      const reference = yield* referenceOf(request, id)
      const { account_id: accountId } = yield* operator.topUp(id)
      const amount = usd === undefined ? undefined : nanoFromUsd(usd)
      const write = { request, body, type: `top_up.${action}`, resource: { type: "top_up", id } }
      return yield* mutate(asOperator(accountId), write, ({ actor }) =>
        Effect.map(
          conflicts(customers.decideTopUp({ topUpId: id, action, amount, reason, reference, actor })),
          (done): TopUpDecision => ({
            data: {
              object: "top_up_decision",
              top_up_id: id,
              account_id: accountId,
              action,
              amount_usd: usdFromNano(done.amount),
              status: done.status,
              balance_usd: usdFromNano(done.balance),
              reason,
              reference,
              repeated: done.repeated
            }
          })
        )
      )
    })
})

/** `/operator/report` and top-ups. */
export const operatorMoneyHandlers = Effect.gen(function* () {
  const [margins, operator] = [yield* Margins, yield* Operator]
  const decide = yield* makeDecide
  return operations("operatorMoney", {
    getReport: ({ query }) => {
      const { account_id: accountId, "by[]": by = ["day"], from, paid_with: paidWith, to } = query
      const question = { by: [...new Set(by)], from, to, accountId, play: paidWith === "simulated" }
      return answer(margins.report({ ...question, ...pageOf(query) }), (report) => ({
        object: "list",
        from: report.from,
        to: report.to,
        data: report.rows.map(rowOf),
        totals: figuresOf(report.totals),
        next_cursor: report.next
      }))
    },
    listTopUpsToSee: ({ query }) => {
      const { cursor = null, limit } = pageOf(query)
      return answer(operator.topUps({ after: cursor, limit }), topUpListOf)
    },
    listAccountTopUps: ({ params, query }) => {
      const { cursor = null, limit } = pageOf(query)
      const found = Effect.flatMap(operator.account(params.account_id), ({ id }) =>
        operator.topUpsOf(id, { after: cursor, limit })
      )
      return answer(found, topUpListOf)
    },
    settleTopUp: ({ params, request }) => decide(params.top_up_id, request, "settled", decodeSettlement),
    dismissTopUp: ({ params, request }) => decide(params.top_up_id, request, "dismissed", decodeDismissal)
  })
})
