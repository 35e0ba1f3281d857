/** Asks the operator to confirm large movements of money, because one zero too many would multiply them. */
import { Context, Effect } from "effect"
import { Flag } from "effect/cli"
import { createInterface } from "node:readline/promises"
import { formatUsd, type Nano, NANO_PER_USD } from "../domain/Money.ts"
import { CommandRefused } from "./Output.ts"

/** The largest amount that moves without confirmation. */
const CONFIRM_ABOVE = 1_000n * NANO_PER_USD

export const yesFlag = Flag.Boolean("yes").pipe(
  Flag.withoutNegation,
  Flag.withDescription(`Do not ask for confirmation above ${formatUsd(CONFIRM_ABOVE)}; for scripts`),
  Flag.withDefault(false)
)

/** Asks a question on standard error and returns the operator's answer; undefined when there is no terminal. */
export const AskOperator = Context.Reference<(question: string) => Effect.Effect<string | undefined>>(
  "tollgate/admin/AskOperator",
  {
    defaultValue: () => (question) =>
      process.stdin.isTTY === true && process.stderr.isTTY === true
        ? Effect.promise(async (signal) => {
            const terminal = createInterface({ input: process.stdin, output: process.stderr })
            try {
              return await terminal.question(question, { signal })
            } finally {
              terminal.close()
            }
          })
        : Effect.undefined
  }
)

/** Continues when the amount is small, the operator passed `--yes`, or the operator confirms. `deed` describes the action. */
export const confirm = (deed: string, amount: Nano, skipped: boolean): Effect.Effect<void, CommandRefused> =>
  Effect.gen(function* () {
    if (skipped || (amount <= CONFIRM_ABOVE && -amount <= CONFIRM_ABOVE)) return
    const answer = yield* (yield* AskOperator)(`${deed}? [y/N] `)
    if (answer === undefined) {
      return yield* new CommandRefused({
        message: `An amount above ${formatUsd(CONFIRM_ABOVE)} requires --yes when there is no terminal`
      })
    }
    if (!/^y(es)?$/i.test(answer.trim()))
      return yield* new CommandRefused({ message: "The operator declined; nothing changed" })
  })
