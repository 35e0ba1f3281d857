/** The commands that move money. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import type { AccountRow } from "../account/AccountsSql.ts"
import { Customers, type MovementResult, OPERATOR } from "../billing/Customers.ts"
import { formatUsd, type Nano, usdFromNano } from "../domain/Money.ts"
import { Operator } from "../operator/Operator.ts"
import { confirm, yesFlag } from "./Confirm.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print } from "./Output.ts"

/** Returns the account that a command names by its ID or email address. */
export const accountOf = (name: string) => Effect.flatMap(Operator, ({ account }) => account(name))

/** Prints the result of a movement. It includes `repeated` only with a reference to recognize a repeat by. */
const printMoved = (
  { email, id }: AccountRow,
  { amount, reference }: { readonly amount: Nano; readonly reference: string | undefined },
  { balance, repeated }: MovementResult,
  text: string
) =>
  print({
    json: {
      account_id: id,
      email,
      amount_usd: usdFromNano(amount),
      balance_usd: usdFromNano(balance),
      ...(reference === undefined ? {} : { reference, repeated })
    },
    text: repeated
      ? `No money moved: the reference ${reference} was already used for ${formatUsd(amount)}. The balance of ${email} is ${formatUsd(balance)}.`
      : text
  })

export const topUp = Command.make(
  "topup",
  { email: Flags.email, amount: Flags.topUpAmount, reference: Flags.reference, yes: yesFlag },
  Effect.fn("topup")(function* ({ amount, email, reference: referenceFlag, yes }) {
    const reference = Option.getOrUndefined(referenceFlag)
    yield* confirm(`Add ${formatUsd(amount)} to the balance of ${email}`, amount, yes)
    const account = yield* accountOf(email)
    const moved = yield* (yield* Customers).topUp(account, amount, { actor: OPERATOR, reference })
    const text = `Added ${formatUsd(amount)} to the balance of ${account.email}, which is now ${formatUsd(moved.balance)}.`
    yield* printMoved(account, { amount, reference }, moved, text)
  })
).pipe(
  Command.withDescription("Add money to an account's balance; with --reference, only once"),
  Command.withExamples([
    { command: "npm run admin -- topup --email ann@example.com --amount-usd 25" },
    { command: "npm run admin -- topup --email ann@example.com --amount-usd 2500 --reference INV-17 --yes" }
  ]),
  Command.provide(database)
)

export const adjust = Command.make(
  "adjust",
  { email: Flags.email, amount: Flags.adjustment, reason: Flags.reason, reference: Flags.reference, yes: yesFlag },
  Effect.fn("adjust")(function* ({ amount, email, reason, reference: referenceFlag, yes }) {
    const reference = Option.getOrUndefined(referenceFlag)
    yield* confirm(`Adjust the balance of ${email} by ${formatUsd(amount)}`, amount, yes)
    const account = yield* accountOf(email)
    const moved = yield* (yield* Customers).adjust(account, amount, { actor: OPERATOR, reason, reference })
    const text = `Adjusted the balance of ${account.email} by ${formatUsd(amount)}; it is now ${formatUsd(moved.balance)}.`
    yield* printMoved(account, { amount, reference }, moved, text)
  })
).pipe(
  Command.withDescription(
    "Correct an account's balance up or down, for instance after a wrong top-up; never below the amount held"
  ),
  Command.withExamples([
    { command: 'npm run admin -- adjust --email ann@example.com --amount-usd -5 --reason "paid in twice"' }
  ]),
  Command.provide(database)
)
