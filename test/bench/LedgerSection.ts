/** The rate of the ledger on one busy account, beside one transaction for each operation on the same server. */
import { Effect } from "effect"
import { type Failures, rotate, type Samples } from "./Measure.ts"
import { node, runToEnd } from "./Processes.ts"
import { atLeast, perSecond, type Row } from "./Report.ts"
import { openAccount, type Testbed } from "./Testbed.ts"

interface LedgerRate {
  readonly operations: number
  readonly seconds: number
}

const modes = [
  { mode: "transactions", name: "one transaction per operation" },
  { mode: "group", name: "group commit" }
] as const

export const ledger = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { rounds, seconds, warmSeconds } = testbed.options
  const accounts = {
    transactions: yield* openAccount(testbed, "one-by-one"),
    group: yield* openAccount(testbed, "grouped")
  }
  yield* rotate("ledger", rounds, modes, ({ mode, name }) =>
    Effect.gen(function* () {
      const printed = yield* runToEnd({
        name: `the ledger alone (${name})`,
        ...node("test/bench/ledgerAlone.ts", mode, accounts[mode].id, String(warmSeconds), String(seconds)),
        env: { DATABASE_URL: testbed.databaseUrl },
        cores: testbed.machine.pinning?.measured
      })
      const counted = JSON.parse(printed) as LedgerRate
      failures.add(`ledger, ${name}`, { completed: counted.operations, failed: 0, example: undefined })
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
