/** The ledger alone on one hot account, beside one transaction per operation on the same server. */
import { Effect } from "effect"
import { type Faults, rotate, type Samples } from "./Measure.ts"
import { node, output } from "./Processes.ts"
import { atLeast, perSecond, type Row } from "./Report.ts"
import { openAccount, type Stage } from "./Stage.ts"

interface Counted {
  readonly operations: number
  readonly seconds: number
}

const modes = [
  { mode: "transactions", name: "one transaction per operation" },
  { mode: "group", name: "group commit" }
] as const

export const ledger = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { rounds, seconds, warmSeconds } = stage.options
  const customers = {
    transactions: yield* openAccount(stage, "one-by-one"),
    group: yield* openAccount(stage, "grouped")
  }
  yield* rotate("ledger", rounds, modes, ({ mode, name }) =>
    Effect.gen(function* () {
      const printed = yield* output({
        name: `the ledger alone (${name})`,
        ...node("test/bench/ledgerAlone.ts", mode, customers[mode].id, String(warmSeconds), String(seconds)),
        env: { DATABASE_URL: stage.databaseUrl },
        cores: stage.machine.pinning?.measured
      })
      const counted = JSON.parse(printed) as Counted
      faults.add(`ledger, ${name}`, { completed: counted.operations, failed: 0, example: undefined })
      samples.add(`operations/s, ${mode}`, counted.operations / counted.seconds)
    })
  )
  const rate = (mode: string) => samples.median(`operations/s, ${mode}`)
  const ratio = rate("group") / rate("transactions")
  const rows: ReadonlyArray<Row> = [
    {
      label: "Ledger alone, holds and settles of one account",
      baseline: perSecond(rate("transactions")),
      gateway: perSecond(rate("group")),
      ratio,
      must: atLeast(ratio, 10, " ×")
    }
  ]
  return rows
})
