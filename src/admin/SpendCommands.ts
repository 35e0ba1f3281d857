/** The commands that bound what providers cost in a day. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { hosts } from "../AppProviders.ts"
import { OPERATOR } from "../billing/Customers.ts"
import { listedProviders } from "../catalogue/Providers.ts"
import { formatUsd, usdFromNano } from "../domain/Money.ts"
import { ALL, SpendLimits } from "../operator/SpendLimits.ts"
import type { SpendLine } from "../usage/ProviderSpendSql.ts"
import { database } from "./Database.ts"
import { CommandRefused, print } from "./Output.ts"
import * as PlanFlags from "./PlanFlags.ts"
import { tableOf } from "./Table.ts"

const list = Command.make(
  "list",
  {},
  Effect.fn("spend list")(function* () {
    const lines = yield* (yield* SpendLimits).lines
    yield* print({
      json: {
        data: lines.map(({ limit_nano: limit, provider, reserved, settled }) => ({
          provider: provider || ALL,
          limit_usd: usdFromNano(limit),
          settled_usd: usdFromNano(settled),
          reserved_usd: usdFromNano(reserved)
        }))
      },
      text: tableOf<SpendLine>(
        [
          { heading: "PROVIDER", cell: ({ provider }) => provider || ALL },
          { heading: "LIMIT", cell: (row) => formatUsd(row.limit_nano), right: true },
          { heading: "COST TODAY", cell: ({ settled }) => formatUsd(settled), right: true },
          { heading: "RESERVED", cell: ({ reserved }) => formatUsd(reserved), right: true }
        ],
        lines,
        "No provider has a bound."
      )
    })
  })
).pipe(
  Command.withDescription("Show the bounds on what providers cost, and what the current UTC day has cost"),
  Command.withExamples([{ command: "npm run admin -- spend list" }]),
  Command.provide(database)
)

const limit = Command.make(
  "limit",
  { provider: PlanFlags.providerArgument, usd: PlanFlags.dailyLimit },
  Effect.fn("spend limit")(function* ({ provider, usd: { value } }) {
    const ids = [...listedProviders, ...(yield* hosts)].map(({ id }) => id)
    yield* (yield* SpendLimits).set({ provider, limit: value, known: (id) => ids.includes(id) }, OPERATOR).pipe(
      Effect.catchTag("Failure", () => {
        const message = `There is no provider ${provider}; the providers are ${ids.toSorted().join(", ")}, and ${ALL} is all together.`
        return Effect.fail(new CommandRefused({ message }))
      })
    )
    const whose = provider === ALL ? "All providers together" : provider
    yield* print({
      json: { provider, limit_usd: value === null ? null : usdFromNano(value) },
      text:
        value === null
          ? `${whose} may cost any amount, within 5 seconds.`
          : `${whose} may cost ${formatUsd(value)} per UTC day, within 5 seconds. Running requests finish.`
    })
  })
).pipe(
  Command.withDescription("Bound what a provider, or all together, may cost in a UTC day"),
  Command.withExamples([
    { command: "npm run admin -- spend limit openai --usd 500" },
    { command: "npm run admin -- spend limit all --usd none" }
  ]),
  Command.provide(database)
)

export const spend = Command.make("spend").pipe(
  Command.withDescription("Bound what providers cost in a day"),
  Command.withSubcommands([list, limit])
)
