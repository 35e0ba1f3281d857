import { Effect } from "effect"
import { Owner } from "../../../../schemas/Access.ts"
import { NewTopUp, type TopUp } from "../../../../schemas/console/TopUps.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { nanoOfTopUp, TopUps } from "../../../billing/TopUps.ts"
import type { TopUpRow } from "../../../billing/TopUpsSql.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { usdFromNano } from "../../../domain/Money.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import { newResourceId } from "../../../platform/Ids.ts"
import { readJson } from "../../edge/Body.ts"
import { answer, asOwner, makeMutate, pageOf, withoutBody } from "../management/Answers.ts"
import { operations } from "../../edge/Operations.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"

/** A top-up as the API shows it. */
export const topUpOf = (row: TopUpRow): TopUp => ({
  id: row.id,
  object: "top_up",
  status: row.status,
  amount_usd: usdFromNano(nanoOfTopUp(row.credited_cents ?? row.amount_cents)),
  checkout_url: row.status === "open" ? row.checkout_url : null,
  created_at: secondsOf(row.created_at),
  paid_at: secondsOf(row.paid_at)
})

const decodeNew = decoder(NewTopUp, { strict: true })

/**
 * A new top-up is returned with its checkout URL, which is requested after the top-up is committed, because the processor may be slow.
 */
const makeTelling = (topUps: TopUps["Service"]) => (accountId: string) => (kept: object) => {
  const { data } = kept as { readonly data: TopUp }
  return Effect.map(topUps.checkout(accountId, data.id), (row) => ({
    data: { ...data, checkout_url: row.checkout_url }
  }))
}

/** `/console/top-ups`: payments of owners. */
export const consoleTopUpsHandlers = Effect.gen(function* () {
  const topUps = yield* TopUps
  const mutate = makeMutate(yield* Mutations)
  const telling = makeTelling(topUps)

  const create = Effect.fnUntraced(function* (request: ApiRequest) {
    const body = yield* readJson(request)
    const { amount_usd: usd } = yield* Effect.fromResult(decodeNew(body))
    const { accountId } = yield* Owner
    const id = newResourceId()
    const write = {
      request,
      body,
      type: "top_up.created",
      resource: { type: "top_up", id },
      telling: telling(accountId)
    }
    return yield* mutate(asOwner, write, (caller) =>
      Effect.map(topUps.create({ ...caller, id, amountCents: Math.round(usd * 100) }), (row) => ({
        data: topUpOf(row)
      }))
    )
  })

  return operations("consoleTopUps", {
    createTopUp: ({ request }) => create(request),
    listTopUps: ({ query }) =>
      answer(
        Effect.flatMap(Owner, ({ accountId }) => topUps.list(accountId, pageOf(query))),
        ({ next, rows }) => ({ object: "list", data: rows.map(topUpOf), next_cursor: next })
      ),
    getTopUp: ({ params }) =>
      answer(
        Effect.flatMap(Owner, ({ accountId }) => topUps.get(accountId, params.top_up_id)),
        (row) => ({ data: topUpOf(row) })
      ),
    simulateTopUp: ({ params: { top_up_id: id }, request }) =>
      withoutBody(
        request,
        mutate(asOwner, { request, type: "top_up.simulated", resource: { type: "top_up", id } }, ({ accountId }) =>
          Effect.map(topUps.simulate(accountId, id), (row) => ({ data: topUpOf(row) }))
        )
      )
  })
})
