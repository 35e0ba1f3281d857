import { Effect } from "effect"
import type { ReportRow } from "../../../../schemas/operator/Money.ts"
import { usdFromNano } from "../../../domain/Money.ts"
import { Operator } from "../../../operator/Operator.ts"
import type { AttentionLine } from "../../../operator/OperatorSql.ts"
import { marginBasisPoints, marginOf, Margins } from "../../../usage/Margins.ts"
import type { MarginRow } from "../../../usage/MarginsSql.ts"
import { operations } from "../../edge/Operations.ts"
import { answer, pageOf } from "../management/Answers.ts"
import { secondsOf } from "./Answers.ts"

const figuresOf = (row: MarginRow) => ({
  requests: Number(row.requests),
  revenue_usd: usdFromNano(row.revenue),
  provider_cost_usd: usdFromNano(row.provider_cost),
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

const topUpOf = (line: AttentionLine) => ({
  id: line.id,
  object: "top_up",
  account_id: line.account_id,
  email: line.email,
  amount_usd: line.amount_cents / 100,
  refunded_usd: Number(line.refunded_cents) / 100,
  processor: line.processor,
  status: line.status,
  attention: line.attention,
  created_at: secondsOf(line.created_at),
  paid_at: secondsOf(line.paid_at)
})

/** `/operator/report` and `/operator/top-ups`. */
export const operatorMoneyHandlers = Effect.gen(function* () {
  const [margins, operator] = [yield* Margins, yield* Operator]
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
      return answer(operator.topUps({ after: cursor, limit }), ({ next, rows }) => ({
        object: "list",
        data: rows.map(topUpOf),
        next_cursor: next
      }))
    }
  })
})
