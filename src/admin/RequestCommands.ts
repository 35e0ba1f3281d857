/** The commands that find an account's requests and explain their receipts. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import type { ReceiptPrice, ReceiptTokens, RequestReceipt } from "../../schemas/account/Requests.ts"
import { formatUsd, nanoFromPico, picoFromUsd, usdFromNano } from "../domain/Money.ts"
import { attemptCostsOf } from "../http/handlers/operator/Requests.ts"
import { receiptOf } from "../http/handlers/Requests.ts"
import { attemptCostsIn, attemptsCostIn, providerCostIn } from "../inference/Receipt.ts"
import type { RequestRow } from "../usage/RequestsSql.ts"
import { accountOf } from "./MoneyCommands.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print } from "./Output.ts"
import { Operator } from "../operator/Operator.ts"
import type { Movement, RequestLine } from "../operator/OperatorSql.ts"
import { tableOf } from "./Table.ts"

const lineOf = ({ cost, created_at, held, ...line }: RequestLine) => ({
  ...line,
  created_at: created_at.toISOString(),
  held_usd: usdFromNano(held),
  cost_usd: usdFromNano(cost)
})

export const requests = Command.make(
  "requests",
  {
    account: Flags.accountFlag,
    status: Flags.requestStatus,
    model: Flags.model,
    since: Flags.since,
    limit: Flags.requests,
    after: Flags.requestsAfter
  },
  Effect.fn("requests")(function* ({ account: name, after, limit, model, since, status }) {
    const account = yield* accountOf(name)
    const { next, rows } = yield* (yield* Operator).requests(account.id, {
      status: Option.getOrNull(status),
      model: Option.getOrNull(model),
      since: Option.getOrNull(since),
      after: Option.getOrNull(after),
      limit
    })
    const table = tableOf<RequestLine>(
      [
        { heading: "ID", cell: ({ id }) => id },
        { heading: "CREATED", cell: ({ created_at }) => created_at.toISOString() },
        { heading: "STATUS", cell: (row) => row.status },
        { heading: "OPERATION", cell: ({ operation }) => operation },
        { heading: "MODEL", cell: (row) => row.resolved_model ?? row.model },
        { heading: "PROVIDER", cell: ({ provider }) => provider ?? "-" },
        { heading: "HELD", cell: ({ held }) => formatUsd(held), right: true },
        { heading: "COST", cell: ({ cost }) => formatUsd(cost), right: true }
      ],
      rows,
      `No request of ${account.email} matches.`
    )
    yield* print({
      json: { account_id: account.id, data: rows.map(lineOf), next },
      text: next === null ? table : `${table}\nMore requests match: add --after ${next}`
    })
  })
).pipe(
  Command.withDescription("List an account's requests, newest first"),
  Command.withExamples([
    { command: "npm run admin -- requests --account ann@example.com --status failed --since 24h" },
    { command: "npm run admin -- requests --account ann@example.com --model openai/gpt-5-mini --limit 20" }
  ]),
  Command.provide(database)
)

const counted = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",")

/** An amount below a nano-USD matters in a rate, but not in a sum. */
const rate = (usd: number, units: number): string => `$${Number((usd * units).toPrecision(12))}`

interface Part {
  readonly count: number
  readonly what: string
  readonly usd: number
}

const tokenParts = (
  price: Extract<typeof ReceiptPrice.Type, { readonly unit: "token" }>,
  usage: typeof ReceiptTokens.Type
): ReadonlyArray<Part> => {
  const long = price.cache_write_1h === undefined ? 0 : (usage.cache_creation_1h_tokens ?? 0)
  return [
    { count: usage.input_tokens, what: "input tokens", usd: price.input },
    { count: usage.cached_tokens, what: "cached input tokens", usd: price.cached_input },
    { count: usage.cache_creation_tokens - long, what: "tokens written to the cache", usd: price.cache_write },
    { count: long, what: "tokens written to the cache for an hour", usd: price.cache_write_1h ?? 0 },
    { count: usage.output_tokens, what: "output tokens", usd: price.output }
  ].filter(({ count }) => count > 0)
}

/** Multiplies each count by its rate, line by line. The gateway rounds their sum once, so lines show what they are before that. */
const pricesOf = ({ price, usage }: RequestReceipt): ReadonlyArray<string> => {
  if (price === null || usage === null) return []
  const promotion =
    price.promotion === undefined ? [] : [`after ${price.promotion.discount_percent} % off: ${price.promotion.label}`]
  if (price.unit !== "token") {
    if (!("units" in usage)) return promotion
    const { unit, units } = usage
    const pico = picoFromUsd(price.per_unit) * BigInt(units)
    return [
      `${counted(units)} ${unit}${units === 1 ? "" : "s"} x ${rate(price.per_unit, 1)} = ${formatUsd(nanoFromPico(pico))}`,
      ...promotion
    ]
  }
  if ("units" in usage) return promotion
  const lines = tokenParts(price, usage).map(({ count, usd, what }) => {
    const pico = picoFromUsd(usd) * BigInt(count)
    return `${counted(count)} ${what} x ${rate(usd, 1_000_000)} per million = ${formatUsd(nanoFromPico(pico))}`
  })
  const perRequest =
    price.per_request === 0 ? [] : [`1 request x ${rate(price.per_request, 1)} = ${rate(price.per_request, 1)}`]
  return [...lines, ...perRequest, ...promotion]
}

/** Returns when an attempt ran, if the receipt knows it. */
const spanText = ({ attempts }: RequestReceipt["timings"], at: number): string => {
  const timed = attempts.find(({ attempt_index }) => attempt_index === at)
  if (timed === undefined) return ""
  const took = timed.duration_ms === null ? "" : `, took ${Math.round(timed.duration_ms)} ms`
  return `, started at ${Math.round(timed.start_ms)} ms${took}`
}

const attemptsOf = ({ error, routing, timings }: RequestReceipt): ReadonlyArray<string> => {
  const attempts = (routing?.provider_attempts ?? []).map(
    ({ attempt_index, outcome, provider }) =>
      `${attempt_index + 1}. ${provider}: ${outcome.replace("_", " ")}${spanText(timings, attempt_index)}`
  )
  const lines = attempts.length === 0 ? ["no provider was called"] : attempts
  return error === null ? lines : [...lines, `error ${error.code}: ${error.message}`]
}

const marginText = (row: RequestRow): ReadonlyArray<string> => {
  const cost = providerCostIn(row.closed)
  const wasted = attemptCostsIn(row.closed).map(
    ({ estimated, index, model, nano, provider }) =>
      `${formatUsd(BigInt(nano))} ${estimated === true ? "estimated" : "reported"} for attempt ${index + 1}, ${model} at ${provider}`
  )
  if (cost === null && row.settled > 0n) {
    return ["unknown: no price list states it and the provider did not report it", ...wasted]
  }
  if (cost === null && wasted.length === 0) return []
  const margin = row.settled - row.refunded - (cost ?? 0n) - attemptsCostIn(row.closed)
  return [...wasted, `${formatUsd(cost ?? 0n)} charged by the provider, which leaves ${formatUsd(margin)}`]
}

/** The state of the hold: open, settled or released. */
const settleOf = (row: RequestRow, receipt: RequestReceipt): ReadonlyArray<string> => {
  const cost = row.settled - row.refunded
  if (row.closed_at === null) {
    return row.settled > 0n ? [`charged ${formatUsd(row.settled)} up front; the work has not ended`] : ["still open"]
  }
  const { basis, closed } = { basis: receipt.usage_basis, closed: row.closed_at.toISOString() }
  return [
    row.settled === 0n
      ? `nothing charged; the hold was released at ${closed}`
      : `${formatUsd(row.settled)} at ${closed}, usage ${basis}`,
    ...(row.absorbed > 0n ? [`${formatUsd(row.absorbed)} beyond the hold, which the operator bears`] : []),
    ...(row.refunded > 0n ? [`${formatUsd(row.refunded)} refunded, so the request cost ${formatUsd(cost)}`] : [])
  ]
}

const movementText = ({ amount, at, kind, reference }: Movement): string =>
  `${at.toISOString()} ${kind} ${formatUsd(amount)}${reference === null ? "" : ` (${reference})`}`

const section = (name: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line, index) => `${(index === 0 ? name : "").padEnd(11)}${line}`)

const receiptText = (email: string, row: RequestRow, movements: ReadonlyArray<Movement>): string => {
  const receipt = receiptOf(row)
  const { timings } = receipt
  const took = timings.total_ms === null ? "" : `, ${Math.round(timings.total_ms)} ms`
  const served =
    row.provider === null
      ? ""
      : ` served by ${row.provider}${row.resolved_model === null ? "" : ` as ${row.resolved_model}`}`
  return [
    ...section("Request", [
      `${row.id} of ${email} (${row.account_id})`,
      `${row.operation} for ${row.model}${served}: ${row.status}${took}`,
      `created ${row.created_at.toISOString()}, key ${row.key_id}${row.project_id === null ? "" : `, project ${row.project_id}`}`,
      ...(row.play === true ? ["paid with simulated money"] : [])
    ]),
    ...section("Hold", [
      `${formatUsd(row.held)}${timings.hold_ms === null ? "" : `, committed in ${Math.round(timings.hold_ms)} ms`}`
    ]),
    ...section("Attempts", attemptsOf(receipt)),
    ...section("Price", pricesOf(receipt)),
    ...section("Settled", settleOf(row, receipt)),
    ...section("Cost", marginText(row)),
    ...section("Transfers", movements.length === 0 ? ["none"] : movements.map(movementText))
  ].join("\n")
}

/** A movement as the JSON of a receipt shows it. */
const movementOf = ({ amount, at, kind, reference }: Movement) => ({
  at: at.toISOString(),
  kind,
  amount_usd: usdFromNano(amount),
  reference
})

const showRequest = Command.make(
  "show",
  { request: Flags.requestArgument },
  Effect.fn("request show")(function* ({ request: id }) {
    const { email, movements, row } = yield* (yield* Operator).request(id)
    const cost = providerCostIn(row.closed)
    const replayed = row.id === id ? {} : { replayed_from: row.id }
    yield* print({
      json: {
        ...receiptOf(row),
        ...replayed,
        account_id: row.account_id,
        email,
        transfers: movements.map(movementOf),
        provider_cost_usd: cost === null ? null : usdFromNano(cost),
        ...attemptCostsOf(row.closed)
      },
      text: [
        ...(row.id === id ? [] : [`${id} repeated the answer of ${row.id} and cost nothing.`]),
        receiptText(email, row, movements)
      ].join("\n")
    })
  })
).pipe(
  Command.withDescription("Explain a receipt: the hold, the attempts, the price and what was settled"),
  Command.withExamples([{ command: "npm run admin -- request show req_01K0ABCDEFGHJKMNPQRSTVWXYZ" }]),
  Command.provide(database)
)

export const request = Command.make("request").pipe(
  Command.withDescription("Explain receipts"),
  Command.withSubcommands([showRequest])
)
