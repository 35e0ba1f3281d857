/** Asks the operator to confirm large movements of money, because one zero too many would multiply them, and losses. */
import { Context, Effect } from "effect"
import { Flag } from "effect/cli"
import { createInterface } from "node:readline/promises"
import { formatUsd, type Nano, NANO_PER_USD } from "../domain/Money.ts"
import { CommandRefused } from "./Output.ts"

/** The largest amount that moves without confirmation. */
const CONFIRM_ABOVE = 1_000n * NANO_PER_USD

const yes = (when: string) =>
  Flag.Boolean("yes").pipe(
    Flag.withoutNegation,
    Flag.withDescription(`Do not ask for confirmation${when}; for scripts`),
    Flag.withDefault(false)
  )

export const yesFlag = yes(` above ${formatUsd(CONFIRM_ABOVE)}`)

export const yesToLossFlag = yes("")

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

/** Asks whether to go on with `deed`. Fails with `withoutTerminal` when there is no terminal. */
const ask = (deed: string, withoutTerminal: string): Effect.Effect<void, CommandRefused> =>
  Effect.gen(function* () {
    const answer = yield* (yield* AskOperator)(`${deed}? [y/N] `)
    if (answer === undefined) return yield* new CommandRefused({ message: withoutTerminal })
    if (!/^y(es)?$/i.test(answer.trim()))
      return yield* new CommandRefused({ message: "The operator declined; nothing changed" })
  })

/** Continues when the amount is small, the operator passed `--yes`, or the operator confirms. `deed` describes the action. */
export const confirm = (deed: string, amount: Nano, skipped: boolean): Effect.Effect<void, CommandRefused> =>
  skipped || (amount <= CONFIRM_ABOVE && -amount <= CONFIRM_ABOVE)
    ? Effect.void
    : ask(deed, `An amount above ${formatUsd(CONFIRM_ABOVE)} requires --yes when there is no terminal`)

/** Continues when the operator passed `--yes` to a command that destroys something, or confirms it. */
export const confirmLoss = (deed: string, skipped: boolean): Effect.Effect<void, CommandRefused> =>
  skipped ? Effect.void : ask(deed, "This command requires --yes when there is no terminal")
