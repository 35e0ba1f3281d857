/** The commands that create, find and show accounts. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { Accounts } from "../account/Accounts.ts"
import type { AccountState } from "../account/AccountsSql.ts"
import { Customers, OPERATOR } from "../billing/Customers.ts"
import { formatUsd, usdFromNano } from "../domain/Money.ts"
import type { AccountLine, BudgetLine } from "../operator/OperatorSql.ts"
import { Operator, SPENT_DAYS } from "../operator/Operator.ts"
import { confirm, yesFlag } from "./Confirm.ts"
import { database, newDatabase } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { accountOf } from "./MoneyCommands.ts"
import { print } from "./Output.ts"
import { tableOf } from "./Table.ts"

const createAccount = Command.make(
  "create",
  { email: Flags.newEmail, balance: Flags.balance, yes: yesFlag },
  Effect.fn("account create")(function* ({ balance, email, yes }) {
    yield* confirm(`Create an account for ${email} with ${formatUsd(balance)}`, balance, yes)
    const opened = yield* (yield* Customers).open(email, balance, OPERATOR)
    yield* print({
      json: {
        account_id: opened.account.id,
        email,
        balance_usd: usdFromNano(balance),
        inference_key: opened.inferenceKey,
        management_key: opened.managementKey
      },
      text: [
        `Created account ${opened.account.id} for ${email} with ${formatUsd(balance)}. Its keys appear only here:`,
        "",
        `  inference key   ${opened.inferenceKey}`,
        `  management key  ${opened.managementKey}`
      ].join("\n")
    })
  })
).pipe(
  Command.withDescription("Create an account with a balance, an inference key and a management key"),
  Command.withExamples([{ command: "npm run admin -- account create --email ann@example.com --balance-usd 25" }]),
  Command.provide(newDatabase)
)

const limitAccount = Command.make(
  "limits",
  { email: Flags.email, scale: Flags.scale },
  Effect.fn("account limits")(function* ({ email, scale }) {
    const account = yield* accountOf(email)
    yield* (yield* Accounts).setLimitScale(account, scale, OPERATOR)
    yield* print({
      json: { account_id: account.id, email: account.email, limit_scale: scale },
      text: `The rate limits of ${account.email} are ${scale} times the default, within 30 seconds.`
    })
  })
).pipe(
  Command.withDescription("Multiply the rate limits of an account"),
  Command.withExamples([{ command: "npm run admin -- account limits --email ann@example.com --scale 10" }]),
  Command.provide(database)
)

const facts = (line: AccountLine) => ({
  id: line.id,
  email: line.email,
  state: line.state,
  state_reason: line.state_reason,
  balance_usd: usdFromNano(line.posted),
  held_usd: usdFromNano(line.held),
  play_balance_usd: usdFromNano(line.play),
  play_held_usd: usdFromNano(line.play_held),
  limit_scale: line.limit_scale,
  markup_percent: line.markup_bp / 100,
  plan: line.plan_name,
  created_at: line.created_at.toISOString()
})

const listAccounts = Command.make(
  "list",
  { search: Flags.search, state: Flags.accountState, limit: Flags.accounts, after: Flags.accountsAfter },
  Effect.fn("account list")(function* ({ after, limit, search, state }) {
    const { next, rows } = yield* (yield* Operator).accounts({
      search: Option.getOrNull(search),
      state: Option.getOrNull(state),
      after: Option.getOrNull(after),
      limit
    })
    const table = tableOf<AccountLine>(
      [
        { heading: "ID", cell: ({ id }) => id },
        { heading: "EMAIL", cell: ({ email }) => email },
        { heading: "STATE", cell: (row) => row.state },
        { heading: "BALANCE", cell: ({ posted }) => formatUsd(posted), right: true },
        { heading: "HELD", cell: ({ held }) => formatUsd(held), right: true },
        { heading: "PLAY", cell: ({ play }) => formatUsd(play), right: true },
        { heading: "CREATED", cell: ({ created_at }) => created_at.toISOString() }
      ],
      rows,
      "No account matches."
    )
    yield* print({
      json: { data: rows.map(facts), next },
      text: next === null ? table : `${table}\nMore accounts match: add --after ${next}`
    })
  })
).pipe(
  Command.withDescription("List accounts, newest first"),
  Command.withExamples([
    { command: "npm run admin -- account list --search example.com --limit 20" },
    { command: "npm run admin -- account list --state suspended" }
  ]),
  Command.provide(database)
)

const budgetFacts = (line: BudgetLine) => ({
  scope: line.scope,
  owner_id: line.owner_id,
  name: line.name,
  period: line.period,
  limit_usd: usdFromNano(line.limit_nano),
  spent_usd: usdFromNano(line.spent),
  held_usd: usdFromNano(line.held)
})

/** Returns whose budget it is. The account's own is the daily limit of its plan. */
const budgetOwner = ({ name, owner_id, period, scope }: BudgetLine, plan: string | null): string => {
  if (scope === "account") return plan === null ? `of the account, ${period}` : `of the plan ${plan}, ${period}`
  return [scope, ...(name === "" ? [] : [name]), `(${owner_id}), ${period}`].join(" ")
}

const budgetText = (line: BudgetLine, plan: string | null) =>
  `${budgetOwner(line, plan)}: ${formatUsd(line.spent)} spent and ${formatUsd(line.held)} held of ${formatUsd(line.limit_nano)}`

const pricesOf = ({ markup_bp: markup, plan_name: plan }: AccountLine): string => {
  const own = markup === 0 ? undefined : `${markup / 100} % beyond the catalogue's`
  if (plan === null) return own ?? "the catalogue's"
  return own === undefined ? `those of the plan ${plan}` : `the fixed ones of the plan ${plan}, others ${own}`
}

const showAccount = Command.make(
  "show",
  { account: Flags.accountArgument },
  Effect.fn("account show")(function* ({ account: name }) {
    const line = yield* accountOf(name)
    const { budgets, counts, spent } = yield* (yield* Operator).overview(line.id)
    const { active_keys, inactive_keys, open_requests } = counts
    const rows: ReadonlyArray<readonly [string, string]> = [
      ["Account", line.id],
      ["Email", line.email],
      ["State", line.state_reason === null ? line.state : `${line.state}: ${line.state_reason}`],
      ["Created", line.created_at.toISOString()],
      ["Balance", `${formatUsd(line.posted)}, of which ${formatUsd(line.held)} is held`],
      ["Play balance", `${formatUsd(line.play)}, of which ${formatUsd(line.play_held)} is held`],
      ["Spent", `${formatUsd(spent)} in ${SPENT_DAYS} days`],
      ["Open requests", String(open_requests)],
      ["Keys", `${active_keys} active, ${inactive_keys} revoked or expired`],
      ["Prices", pricesOf(line)],
      ["Rate limits", `${line.limit_scale} times the default`],
      ...budgets.map((budget) => ["Budget", budgetText(budget, line.plan_name)] as const)
    ]
    yield* print({
      json: {
        ...facts(line),
        spent_30d_usd: usdFromNano(spent),
        open_requests,
        keys: { active: active_keys, inactive: inactive_keys },
        budgets: budgets.map(budgetFacts)
      },
      text: rows.map(([name, value]) => `${name.padEnd(15)}${value}`).join("\n")
    })
  })
).pipe(
  Command.withDescription("Show an account's money, keys, budgets and state"),
  Command.withExamples([{ command: "npm run admin -- account show ann@example.com" }]),
  Command.provide(database)
)

const markUpAccount = Command.make(
  "markup",
  { account: Flags.accountArgument, percent: Flags.markup },
  Effect.fn("account markup")(function* ({ account: name, percent: basisPoints }) {
    const { email, id } = yield* accountOf(name)
    yield* (yield* Accounts).setMarkup({ id }, basisPoints, OPERATOR)
    yield* print({
      json: { account_id: id, email, markup_percent: basisPoints / 100 },
      text: `${email} pays ${basisPoints / 100} % beyond the catalogue's prices. Running requests keep their price.`
    })
  })
).pipe(
  Command.withDescription(
    "Set what an account pays beyond the catalogue's prices, in percent; below zero it pays less"
  ),
  Command.withExamples([
    { command: "npm run admin -- account markup ann@example.com --percent 12.5" },
    { command: "npm run admin -- account markup ann@example.com --percent -10" }
  ]),
  Command.provide(database)
)

/** Changes an account's state and prints what follows from it. */
const changeState = (name: string, to: AccountState, reason: string, consequence: string) =>
  Effect.gen(function* () {
    const { email, id } = yield* accountOf(name)
    yield* (yield* Accounts).setState({ id, name }, { to, reason, actor: OPERATOR })
    yield* print({
      json: { account_id: id, email, state: to, reason },
      text: `The account ${email} is ${to}. ${consequence}`
    })
  })

const suspendAccount = Command.make(
  "suspend",
  { account: Flags.accountArgument, reason: Flags.reason },
  Effect.fn("account suspend")(function* ({ account: name, reason }) {
    yield* changeState(
      name,
      "suspended",
      reason,
      "Every node refuses its requests and its sign-in from now on; running requests finish. Nothing is deleted."
    )
  })
).pipe(
  Command.withDescription("Stop an account at once, on every node; its owner sees the reason"),
  Command.withExamples([{ command: 'npm run admin -- account suspend ann@example.com --reason "payment disputed"' }]),
  Command.provide(database)
)

const resumeAccount = Command.make(
  "resume",
  { account: Flags.accountArgument, reason: Flags.reason },
  Effect.fn("account resume")(function* ({ account: name, reason }) {
    yield* changeState(name, "active", reason, "Its keys and its sign-in work again, and its webhooks are delivered.")
  })
).pipe(
  Command.withDescription("Let a suspended account work again, at once"),
  Command.withExamples([{ command: 'npm run admin -- account resume ann@example.com --reason "dispute settled"' }]),
  Command.provide(database)
)

const closeAccount = Command.make(
  "close",
  { account: Flags.accountArgument, reason: Flags.reason },
  Effect.fn("account close")(function* ({ account: name, reason }) {
    yield* changeState(
      name,
      "closed",
      reason,
      "Its keys are revoked for good. Its balance, receipts and audit log stay."
    )
  })
).pipe(
  Command.withDescription("Close an account without running requests for good: revoke its keys and refuse its sign-in"),
  Command.withExamples([{ command: 'npm run admin -- account close ann@example.com --reason "closed by its owner"' }]),
  Command.provide(database)
)

export const account = Command.make("account").pipe(
  Command.withDescription("Create, find, suspend and close accounts, and set their limits"),
  Command.withSubcommands([
    createAccount,
    listAccounts,
    showAccount,
    limitAccount,
    markUpAccount,
    suspendAccount,
    resumeAccount,
    closeAccount
  ])
)
