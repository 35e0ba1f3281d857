/** The command that lists top-ups which need an operator. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { nanoOfTopUp } from "../billing/TopUps.ts"
import { formatUsd, NANO_PER_CENT, usdFromNano } from "../domain/Money.ts"
import { Operator } from "../operator/Operator.ts"
import type { AttentionLine } from "../operator/OperatorSql.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print } from "./Output.ts"
import { tableOf } from "./Table.ts"

const lineOf = ({ amount_cents, created_at, paid_at, refunded_cents, ...line }: AttentionLine) => ({
  ...line,
  amount_usd: usdFromNano(nanoOfTopUp(amount_cents)),
  refunded_usd: usdFromNano(refunded_cents * NANO_PER_CENT),
  created_at: created_at.toISOString(),
  paid_at: paid_at?.toISOString() ?? null
})

export const listTopUps = Command.make(
  "list",
  { limit: Flags.topUps },
  Effect.fn("topups list")(function* ({ limit }) {
    const { rows } = yield* (yield* Operator).topUps({ after: null, limit })
    yield* print({
      json: { data: rows.map(lineOf) },
      text: tableOf<AttentionLine>(
        [
          { heading: "ID", cell: ({ id }) => id },
          { heading: "EMAIL", cell: ({ email }) => email },
          { heading: "AMOUNT", cell: ({ amount_cents }) => formatUsd(nanoOfTopUp(amount_cents)), right: true },
          { heading: "STATUS", cell: ({ status }) => status },
          { heading: "CREATED", cell: ({ created_at }) => created_at.toISOString() },
          { heading: "WHY", cell: ({ attention }) => attention }
        ],
        rows,
        "No top-up needs an operator."
      )
    })
  })
).pipe(
  Command.withDescription("List top-ups that need an operator, newest first"),
  Command.withExamples([{ command: "npm run admin -- topups list" }]),
  Command.provide(database)
)
