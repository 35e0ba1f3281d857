import { Effect } from "effect"
import { type OperatorRefund, OperatorRefundRequest } from "../../../../schemas/operator/Requests.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Customers } from "../../../billing/Customers.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { conflict } from "../../../domain/Failure.ts"
import { nanoFromUsd, usdFromNano } from "../../../domain/Money.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { attemptCostsIn, attemptsCostIn, providerCostIn } from "../../../inference/Receipt.ts"
import { type AnyRequest, Operator } from "../../../operator/Operator.ts"
import { Receipts } from "../../../usage/Receipts.ts"
import type { RequestRow } from "../../../usage/RequestsSql.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"
import { readJson } from "../../edge/Body.ts"
import { operations } from "../../edge/Operations.ts"
import { receiptOf, requestListOf, ruleIn, selectionOf } from "../Requests.ts"
import { answer, makeMutate, pageOf } from "../management/Answers.ts"
import { asOperator, conflicts, referenceOf } from "./Answers.ts"

/** What the attempts of a request cost that served no answer. */
export const attemptCostsOf = (closed: unknown) => ({
  attempt_cost_usd: usdFromNano(attemptsCostIn(closed)),
  attempt_costs: attemptCostsIn(closed).map(({ estimated, index, model, nano, provider }) => ({
    attempt_index: index,
    provider,
    model,
    cost_usd: usdFromNano(BigInt(nano)),
    basis: estimated === true ? ("estimated" as const) : ("reported" as const)
  }))
})

/** The properties of a request that only operators see. */
const besides = (row: RequestRow) => {
  const cost = providerCostIn(row.closed)
  return {
    account_id: row.account_id,
    provider_cost_usd: cost === null ? null : usdFromNano(cost),
    ...attemptCostsOf(row.closed),
    price_rule: ruleIn(row)
  }
}

const wholeOf = (id: string, { email, movements, row }: AnyRequest) => ({
  data: {
    ...receiptOf(row),
    ...(row.id === id ? {} : { replayed_from: row.id }),
    ...besides(row),
    email,
    transfers: movements.map(({ amount, at, kind, reference }) => ({
      at: secondsOf(at),
      kind,
      amount_usd: usdFromNano(amount),
      reference
    }))
  }
})

const decodeRefund = decoder(OperatorRefundRequest, { strict: true })

/** `/operator/requests`, and the requests of an account. */
export const operatorRequestsHandlers = Effect.gen(function* () {
  const [customers, operator, receipts] = [yield* Customers, yield* Operator, yield* Receipts]
  const mutate = makeMutate(yield* Mutations)

  const refund = (id: string, request: ApiRequest) =>
    Effect.gen(function* () {
      const body = yield* readJson(request)
      const { amount_usd: usd, reason } = yield* Effect.fromResult(decodeRefund(body))
      const reference = yield* referenceOf(request, id)
      const { row } = yield* operator.request(id)
      // Such a request cost nothing itself.
      if (row.id !== id) {
        const detail = `The request ${id} repeated the answer of ${row.id} and cost nothing.`
        return yield* conflict(detail)
      }
      const accountId = row.account_id
      const amount = usd === undefined ? undefined : nanoFromUsd(usd)
      const write = { request, body, type: "request.refunded", resource: { type: "request", id } }
      return yield* mutate(asOperator(accountId), write, ({ actor }) =>
        Effect.map(
          conflicts(customers.refund({ accountId, requestId: id, amount, reason, reference, actor })),
          (done): OperatorRefund => ({
            data: {
              object: "refund",
              request_id: id,
              account_id: accountId,
              amount_usd: usdFromNano(done.amount),
              refunded_usd: usdFromNano(done.total),
              cost_usd: usdFromNano(done.cost),
              balance_usd: usdFromNano(done.balance),
              reference,
              repeated: done.repeated
            }
          })
        )
      )
    })

  return operations("operatorRequests", {
    refundRequest: ({ params, request }) => refund(params.request_id, request),
    listAccountRequests: ({ params, query }) =>
      answer(
        Effect.gen(function* () {
          const { id } = yield* operator.account(params.account_id)
          return yield* receipts.page(id, yield* selectionOf(query))
        }),
        (page) => ({
          ...requestListOf(page),
          data: page.rows.map((row) => ({ ...receiptOf(row), ...besides(row) }))
        })
      ),
    listAnyRequests: ({ query: { model = null, operation = null, provider = null, status = null, ...query } }) => {
      const { cursor = null, limit } = pageOf(query)
      const found = operator.anyRequests({ model, operation, provider, status, after: cursor, limit })
      return answer(found, (page) => ({
        ...requestListOf(page),
        data: page.rows.map((row) => ({ ...receiptOf(row), ...besides(row), email: row.email }))
      }))
    },
    getAnyRequest: ({ params }) =>
      answer(operator.request(params.request_id), (found) => wholeOf(params.request_id, found))
  })
})
