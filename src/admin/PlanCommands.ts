/** The commands that create, change and assign price plans. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import type { PlanPrice } from "../../schemas/operator/Plans.ts"
import { planWire, priceProblem } from "../account/PlanFacts.ts"
import { Plans } from "../account/Plans.ts"
import type { PlanFacts, PlanRow } from "../account/PlansSql.ts"
import { OPERATOR } from "../billing/Customers.ts"
import { units } from "../catalogue/Listing.ts"
import { entries } from "../catalogue/models.ts"
import { formatUsd } from "../domain/Money.ts"
import { accountOf } from "./MoneyCommands.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print, CommandRefused } from "./Output.ts"
import * as PlanFlags from "./PlanFlags.ts"
import { tableOf } from "./Table.ts"

const facts = {
  markup: PlanFlags.planMarkup,
  prices: PlanFlags.planPrices,
  requests: PlanFlags.planRequests,
  videos: PlanFlags.planVideos,
  batches: PlanFlags.planBatches,
  daily: PlanFlags.planDailySpend
}

/** The flags that the operator passed. */
interface PlanFlagValues {
  readonly markup: Option.Option<number>
  readonly prices: Option.Option<ReadonlyArray<PlanPrice>>
  readonly requests: Option.Option<{ readonly value: number | null }>
  readonly videos: Option.Option<{ readonly value: number | null }>
  readonly batches: Option.Option<{ readonly value: number | null }>
  readonly daily: Option.Option<{ readonly value: bigint | null }>
}

const unitsOfModels = new Map(
  entries.filter(({ virtual }) => virtual !== true).map((one) => [one.id, units[one.modality]])
)

const checked = (prices: ReadonlyArray<PlanPrice>) => {
  const problem = priceProblem(prices, (id) => unitsOfModels.get(id))
  return problem === undefined
    ? Effect.succeed(prices)
    : Effect.fail(new CommandRefused({ message: `--prices: a model ${problem.message}` }))
}

const changeOf = <Name extends keyof PlanFacts>(
  name: Name,
  option: Option.Option<{ readonly value: PlanFacts[Name] }>
) => Option.match(option, { onNone: () => ({}), onSome: ({ value }) => ({ [name]: value }) })

const changesOf = ({ batches, daily, markup, prices, requests, videos }: PlanFlagValues) =>
  Effect.map(Effect.transposeOption(Option.map(prices, checked)), (list): Partial<PlanFacts> => ({
    ...changeOf(
      "markup_bp",
      Option.map(markup, (value) => ({ value }))
    ),
    ...changeOf(
      "prices",
      Option.map(list, (value) => ({ value }))
    ),
    ...changeOf("requests_per_minute", requests),
    ...changeOf("running_videos", videos),
    ...changeOf("running_batches", batches),
    ...changeOf("daily_spend", daily)
  }))

const priceText = (price: PlanPrice): string =>
  "per_unit_usd" in price
    ? `${price.model} $${price.per_unit_usd} per unit`
    : `${price.model} $${price.input_usd_per_million} input and $${price.output_usd_per_million} output per million tokens`

const textOf = (row: PlanRow): string => {
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["Plan", `${row.name} (${row.id})`],
    ["Accounts", String(row.accounts)],
    ["Markup", `${row.markup_bp / 100} % beyond the catalogue's prices`],
    ...row.prices.map((price) => ["Fixed price", priceText(price)] as const),
    ["Requests", row.requests_per_minute === null ? "the usual limits" : `${row.requests_per_minute} a minute per key`],
    ["Videos", row.running_videos === null ? "the usual limit" : `${row.running_videos} unfinished`],
    ["Batches", row.running_batches === null ? "the usual limit" : `${row.running_batches} unfinished`],
    ["Daily spend", row.daily_spend === null ? "no limit" : `${formatUsd(row.daily_spend)} per account and UTC day`]
  ]
  return rows.map(([name, value]) => `${name.padEnd(13)}${value}`).join("\n")
}

const create = Command.make(
  "create",
  { name: PlanFlags.planName, ...facts },
  Effect.fn("plan create")(function* ({ name, ...rest }) {
    const changes = yield* changesOf(rest)
    const nothing = { requests_per_minute: null, running_videos: null, running_batches: null, daily_spend: null }
    const plan = { markup_bp: 0, prices: [], ...nothing, ...changes, name }
    const row = yield* (yield* Plans).create(plan, OPERATOR)
    yield* print({ json: planWire(row), text: `Created a plan.\n${textOf(row)}` })
  })
).pipe(
  Command.withDescription("Create a price plan with a markup, fixed prices and limits"),
  Command.withExamples([
    { command: "npm run admin -- plan create --name gold --markup-percent 10 --daily-spend-usd 50" },
    { command: "npm run admin -- plan create --name fixed --prices gpt-4o-mini=0.2/0.8,flux-dev=0.03" }
  ]),
  Command.provide(database)
)

const set = Command.make(
  "set",
  { plan: PlanFlags.planArgument, ...facts },
  Effect.fn("plan set")(function* ({ plan, ...rest }) {
    const changes = yield* changesOf(rest)
    if (Object.keys(changes).length === 0) {
      const message = `\`plan set\` requires at least one of ${PlanFlags.planFlagNames.join(", ")}.`
      return yield* new CommandRefused({ message })
    }
    const plans = yield* Plans
    const before = yield* plans.find(plan)
    const row = yield* plans.change(before.id, changes, OPERATOR)
    const [former, wire] = [planWire(before), planWire(row)]
    const done =
      JSON.stringify(former) === JSON.stringify(wire)
        ? "The plan has these values already; nothing changed."
        : "Changed the plan. Running requests keep their price."
    yield* print({ json: wire, text: `${done}\n${textOf(row)}` })
  })
).pipe(
  Command.withDescription("Change a price plan; what is not named stays, and running requests keep their price"),
  Command.withExamples([{ command: "npm run admin -- plan set gold --markup-percent 12.5 --daily-spend-usd none" }]),
  Command.provide(database)
)

const list = Command.make(
  "list",
  {},
  Effect.fn("plan list")(function* () {
    const rows = yield* (yield* Plans).list
    yield* print({
      json: { data: rows.map(planWire) },
      text: tableOf<PlanRow>(
        [
          { heading: "ID", cell: ({ id }) => id },
          { heading: "NAME", cell: ({ name }) => name },
          { heading: "MARKUP", cell: (row) => `${row.markup_bp / 100} %`, right: true },
          { heading: "FIXED PRICES", cell: ({ prices }) => String(prices.length), right: true },
          {
            heading: "DAILY",
            cell: (row) => (row.daily_spend === null ? "-" : formatUsd(row.daily_spend)),
            right: true
          },
          { heading: "ACCOUNTS", cell: ({ accounts }) => String(accounts), right: true }
        ],
        rows,
        "There are no price plans."
      )
    })
  })
).pipe(
  Command.withDescription("List price plans, by name"),
  Command.withExamples([{ command: "npm run admin -- plan list" }]),
  Command.provide(database)
)

const show = Command.make(
  "show",
  { plan: PlanFlags.planArgument },
  Effect.fn("plan show")(function* ({ plan }) {
    const row = yield* (yield* Plans).find(plan)
    yield* print({ json: planWire(row), text: textOf(row) })
  })
).pipe(
  Command.withDescription("Show a price plan"),
  Command.withExamples([{ command: "npm run admin -- plan show gold" }]),
  Command.provide(database)
)

const assign = Command.make(
  "assign",
  { account: Flags.accountArgument, plan: PlanFlags.planFlag },
  Effect.fn("plan assign")(function* ({ account: name, plan }) {
    const { email, id } = yield* accountOf(name)
    const plans = yield* Plans
    const row = plan === "none" ? undefined : yield* plans.find(plan)
    yield* plans.assign({ id }, row?.id ?? null, OPERATOR)
    const what = row === undefined ? "belongs to no plan" : `belongs to the plan ${row.name}`
    yield* print({
      json: { account_id: id, email, plan_id: row?.id ?? null },
      text: `${email} ${what}. Running requests keep their price.`
    })
  })
).pipe(
  Command.withDescription("Move an account to a price plan, or end its plan"),
  Command.withExamples([
    { command: "npm run admin -- plan assign ann@example.com --plan gold" },
    { command: "npm run admin -- plan assign ann@example.com --plan none" }
  ]),
  Command.provide(database)
)

const remove = Command.make(
  "remove",
  { plan: PlanFlags.planArgument },
  Effect.fn("plan remove")(function* ({ plan }) {
    const plans = yield* Plans
    const { id, name } = yield* plans.find(plan)
    yield* plans.remove(id, OPERATOR)
    yield* print({ json: { id, removed: true }, text: `Removed the plan ${name}.` })
  })
).pipe(
  Command.withDescription("Remove a price plan that no account belongs to"),
  Command.withExamples([{ command: "npm run admin -- plan remove gold" }]),
  Command.provide(database)
)

export const plan = Command.make("plan").pipe(
  Command.withDescription("Create, change and assign price plans"),
  Command.withSubcommands([create, list, show, set, assign, remove])
)
