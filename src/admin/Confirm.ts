/** What moves much money is asked back, so that a zero too many does not pay a thousand times. */
import { Context, Effect } from "effect"
import { Flag } from "effect/cli"
import { createInterface } from "node:readline/promises"
import { formatUsd, type Nano, NANO_PER_USD } from "../domain/Money.ts"
import { Refused } from "./Output.ts"

/** The most that is moved without asking. */
const UNASKED = 1_000n * NANO_PER_USD

export const yes = Flag.Boolean("yes").pipe(
  Flag.withoutNegation,
  Flag.withDescription(`Do not ask back for more than ${formatUsd(UNASKED)}, as scripts need it`),
  Flag.withDefault(false)
)

/** The line that the operator answers a question with, on standard error; undefined where nothing can be asked. */
export const Asking = Context.Reference<(question: string) => Effect.Effect<string | undefined>>(
  "tollgate/admin/Asking",
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

/** Goes on where the amount is small, `--yes` was given, or the operator says yes. `deed` says what would be done. */
export const confirmed = (deed: string, amount: Nano, saidYes: boolean): Effect.Effect<void, Refused> =>
  Effect.gen(function* () {
    if (saidYes || (amount <= UNASKED && -amount <= UNASKED)) return
    const answer = yield* (yield* Asking)(`${deed}? [y/N] `)
    if (answer === undefined) {
      return yield* new Refused({
        message: `More than ${formatUsd(UNASKED)} needs --yes where there is no terminal to ask on`
      })
    }
    if (!/^y(es)?$/i.test(answer.trim())) return yield* new Refused({ message: "Nothing was done" })
  })
