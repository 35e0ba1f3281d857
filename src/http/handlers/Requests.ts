import { secondsOf } from "../../domain/UnixTime.ts"
import { messageOf, table } from "../FailureRows.ts"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { Caller } from "../../../schemas/Access.ts"
import type { RequestReceipt } from "../../../schemas/account/Requests.ts"
import type { Api } from "../../../schemas/Api.ts"
import { DEFAULT_LIMIT } from "../../../schemas/Page.ts"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import { nanoFromUsd, usdFromNano, usdFromPico } from "../../domain/Money.ts"
import type { PriceRule } from "../../domain/PriceTerms.ts"
import { quantityOf, type CallUsage } from "../../domain/Usage.ts"
import {
  type ClosedFacts,
  type StoredRates,
  type StoredReason,
  type OpenFacts,
  restoreClosed,
  restoreOpened,
  restoreReason
} from "../../inference/Receipt.ts"
import { type PageQuery, Receipts } from "../../usage/Receipts.ts"
import type { ReceiptsPage } from "../../usage/ReceiptSearch.ts"
import { Requests } from "../../usage/Requests.ts"
import type { RequestRow } from "../../usage/RequestsSql.ts"
import { operations } from "../edge/Operations.ts"

/** The origin of a price, as far as owners see it: the plan that it comes from, and the promotion that lowered it. */
const originOf = ({ promotion, rule }: StoredRates) => ({
  ...(promotion === undefined
    ? {}
    : { promotion: { label: promotion.label, discount_percent: promotion.discountPercent } }),
  ...(rule?.plan === undefined ? {} : { plan: rule.plan })
})

const priceOf = (price: StoredRates, usage: CallUsage | undefined): RequestReceipt["price"] => {
  if ("unit" in price) {
    return { unit: price.unit, per_unit: usdFromPico(BigInt(price.perUnit)), ...originOf(price) }
  }
  const prompt = usage === undefined ? 0 : quantityOf(usage)
  const tier = price.tiers.findLast(([above], index) => index === 0 || prompt > above)
  if (tier === undefined) return null
  const [, input, cached, cacheWrite, output, cacheWriteLong] = tier.map((pico) => usdFromPico(BigInt(pico ?? 0)))
  return {
    unit: "token",
    input: input ?? 0,
    cached_input: cached ?? 0,
    cache_write: cacheWrite ?? 0,
    ...(cacheWriteLong === undefined ? {} : { cache_write_1h: cacheWriteLong }),
    output: output ?? 0,
    per_request: usdFromPico(BigInt(price.perRequest ?? 0)),
    ...originOf(price)
  }
}

const errorOf = (kept: StoredReason | null | undefined): RequestReceipt["error"] =>
  kept == null ? null : { code: table[kept._tag].code, message: messageOf(restoreReason(kept)) }

const usageOf = (usage: CallUsage): RequestReceipt["usage"] =>
  "units" in usage
    ? { units: usage.units, unit: usage.unit }
    : {
        input_tokens: usage.input,
        cached_tokens: usage.cached,
        cache_creation_tokens: usage.cacheWrite,
        ...(usage.cacheWriteLong === undefined ? {} : { cache_creation_1h_tokens: usage.cacheWriteLong }),
        output_tokens: usage.output,
        reasoning_tokens: usage.reasoning
      }

/** An expired request records only its error. Its charge comes from the progress that was counted. */
const basisOf = (closed: Partial<ClosedFacts> | null, cost: bigint): RequestReceipt["usage_basis"] =>
  closed?.basis ?? (closed !== null && cost > 0n ? "counted" : "none")

const attemptsOf = (closed: Partial<ClosedFacts> | null): RequestReceipt["timings"]["attempts"] =>
  (closed?.routing?.provider_attempts ?? []).flatMap(({ attempt_index }, index) => {
    const [start_ms, duration_ms = null] = closed?.attemptMs?.slice(index * 2) ?? []
    return typeof start_ms === "number" ? [{ attempt_index, start_ms, duration_ms }] : []
  })

const ratesIn = (
  row: RequestRow,
  closed: Partial<ClosedFacts> | null,
  opened: Pick<OpenFacts, "prices">
): StoredRates | undefined =>
  closed?.rates ??
  opened.prices.find((kept) => kept.provider === row.provider && kept.model === (row.resolved_model ?? kept.model))

/** How the price of a request row came about; null for the catalogue's price and for a request without a price. */
export const ruleIn = (row: RequestRow): PriceRule | null =>
  ratesIn(row, restoreClosed(row.closed, row), restoreOpened(row.opened))?.rule ?? null

/** The receipt of a request row. */
export const receiptOf = (row: RequestRow): RequestReceipt => {
  const opened = restoreOpened(row.opened)
  const closed = restoreClosed(row.closed, row)
  const cost = row.settled - row.refunded
  const price = ratesIn(row, closed, opened)
  const settleMs =
    closed?.endedAtMs === undefined || row.closed_at === null
      ? null
      : Math.max(0, row.closed_at.getTime() - closed.endedAtMs)
  return {
    id: row.id,
    object: "request",
    created_at: secondsOf(row.created_at),
    operation: row.operation,
    status: row.status,
    model: row.model,
    resolved_model: row.resolved_model,
    provider: row.provider,
    ...(opened.preset === undefined ? {} : { preset: opened.preset }),
    streamed: opened.streamed,
    usage: closed?.usage === undefined ? null : usageOf(closed.usage),
    usage_basis: basisOf(closed, cost),
    cost_usd: usdFromNano(cost),
    held_usd: usdFromNano(row.held),
    settled_usd: usdFromNano(row.settled),
    absorbed_usd: usdFromNano(row.absorbed),
    refunded_usd: usdFromNano(row.refunded),
    paid_with: row.play === true ? "simulated" : "real",
    price: price === undefined ? null : priceOf(price, closed?.usage),
    routing: closed?.routing ?? null,
    timings: {
      queue_ms: opened.queueMs,
      hold_ms: closed?.holdMs ?? null,
      first_token_ms: closed?.firstTokenMs ?? null,
      total_ms: closed?.totalMs ?? null,
      settle_ms: settleMs,
      overhead_ms: closed?.overheadMs ?? null,
      attempts: attemptsOf(closed)
    },
    finish_reason: closed?.finishReason ?? null,
    error: errorOf(closed?.error),
    idempotency_key: row.idempotency_key,
    cached: false,
    key_id: row.key_id,
    project_id: row.project_id,
    trace_id: opened.traceId
  }
}

/** A page of receipts. */
export const requestListOf = ({ next, rows, searchedToMs }: ReceiptsPage) => ({
  object: "list" as const,
  data: rows.map(receiptOf),
  next_cursor: next,
  searched_to: searchedToMs === null ? null : Math.floor(searchedToMs / 1000)
})

type ListQuery = HttpApiEndpoint.Query<typeof Api.groups.requests.endpoints.listRequests>["Type"]

/** The page that a query selects. */
export const selectionOf = (query: ListQuery): Effect.Effect<PageQuery, Failure> => {
  const { end_time: end, limit = DEFAULT_LIMIT, start_time: start, ...filters } = query
  const { key_id: keyId, project_id: projectId, max_cost_usd: dearest, min_cost_usd: cheapest, ...rest } = filters
  const { max_latency_ms: maxLatencyMs, min_latency_ms: minLatencyMs, ...others } = rest
  for (const name of ["model", "provider", "operation"] as const) {
    // The one character that PostgreSQL text cannot contain.
    if (filters[name]?.includes("\0") === true) return invalid(name, "must not contain NUL characters")
  }
  if (start !== undefined && end !== undefined && start >= end) return invalid("end_time", "must be after start_time.")
  const msOf = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1_000)
  const nanoOf = (usd: number | undefined) => (usd === undefined ? undefined : nanoFromUsd(usd))
  const bounds = { minCost: nanoOf(cheapest), maxCost: nanoOf(dearest), minLatencyMs, maxLatencyMs }
  return Effect.succeed({ ...others, ...bounds, limit, keyId, projectId, fromMs: msOf(start), untilMs: msOf(end) })
}

/** `GET /requests` and `GET /requests/{request_id}`. */
export const requestsHandlers = Effect.gen(function* () {
  const [receipts, requests] = [yield* Receipts, yield* Requests]
  return operations("requests", {
    listRequests: Effect.fnUntraced(function* ({ query }) {
      const { accountId } = yield* Caller
      const page = yield* receipts.page(accountId, yield* selectionOf(query))
      return HttpServerResponse.jsonUnsafe(requestListOf(page))
    }),
    getRequest: Effect.fnUntraced(function* ({ params }) {
      const { accountId } = yield* Caller
      const id = params.request_id
      const row = yield* requests.find(accountId, id)
      if (row !== undefined) return HttpServerResponse.jsonUnsafe(receiptOf(row))
      const original = yield* requests.findReplayed(accountId, id)
      if (original === undefined) return yield* failure({ _tag: "NotFound", what: "request", id })
      return HttpServerResponse.jsonUnsafe({ ...receiptOf(original), replayed_from: original.id })
    })
  })
})
