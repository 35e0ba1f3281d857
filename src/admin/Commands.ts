/** The operator's commands. They work on the database of the settings, with or without a running service. */
import { Effect, Option } from "effect"
import { CliConfig, Command, Flag, GlobalFlag } from "effect/cli"
import { SqlClient } from "effect/sql"
import { Audit, PENDING_AFTER_MS } from "../account/Audit.ts"
import { OperatorEvents } from "../account/OperatorEvents.ts"
import type { AuditRow, PendingRow } from "../account/AuditSql.ts"
import { Customers, OPERATOR } from "../billing/Customers.ts"
import { nanoOfTopUp } from "../billing/TopUps.ts"
import { formatUsd, usdFromNano } from "../domain/Money.ts"
import { proveBooks } from "../billing/Books.ts"
import type { Proof } from "../ledger/Checkpoint.ts"
import { VERSION } from "../platform/config/Version.ts"
import { account } from "./AccountCommands.ts"
import { backup, restore } from "./BackupCommands.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { exportCommand } from "./ExportCommand.ts"
import { key } from "./KeyCommands.ts"
import { operatorKey } from "./OperatorKeyCommands.ts"
import { migrate } from "./MigrateCommand.ts"
import { dismissTopUp, listTopUps, settleTopUp } from "./TopUpCommands.ts"
import { accountOf, adjust, topUp } from "./MoneyCommands.ts"
import { exitCode, json, presenter, print, CommandRefused } from "./Output.ts"
import { plan } from "./PlanCommands.ts"
import { refund } from "./RefundCommand.ts"
import { report } from "./ReportCommand.ts"
import { request, requests } from "./RequestCommands.ts"
import { spend } from "./SpendCommands.ts"
import { sandbox } from "./SandboxCommands.ts"

const endTopUp = Command.make(
  "end",
  { id: Flags.topUpId },
  Effect.fn("topups end")(function* ({ id }) {
    const ended = yield* (yield* Customers).endTopUp(id, OPERATOR)
    if (ended === undefined) return yield* new CommandRefused({ message: `There is no open top-up with the id ${id}` })
    const { account_id, amount_cents, status } = ended
    const amount = nanoOfTopUp(amount_cents)
    yield* print({
      json: { id, account_id, amount_usd: usdFromNano(amount), status },
      text: `The top-up ${id} of ${formatUsd(amount)} is ${status}. A payment that still arrives for it is credited.`
    })
  })
).pipe(
  Command.withDescription("End a top-up that stays open"),
  Command.withExamples([{ command: "npm run admin -- topups end --id 0123456789abcdef01234567" }]),
  Command.provide(database)
)

const eventOf = (row: AuditRow) => ({
  id: row.id,
  type: row.type,
  effective_at: row.effective_at.toISOString(),
  actor: { type: row.actor_type, id: row.actor_id },
  resource: { type: row.resource_type, id: row.resource_id },
  request_id: row.request_id,
  status: row.status,
  outcome: row.outcome,
  code: row.code,
  changes: row.changes
})

const endOf = ({ code, outcome, status }: Pick<AuditRow, "code" | "outcome" | "status">): string =>
  [outcome ?? status, ...(code === null ? [] : [code])].join(" ")

const accountEvents = Effect.fnUntraced(function* (email: string, limit: number) {
  const account = yield* accountOf(email)
  const events = (yield* (yield* Audit).list(account.id, limit)).map(eventOf)
  const lines = events.map(({ actor, changes, effective_at, resource, type, ...event }) =>
    [
      effective_at,
      type.padEnd(24),
      `${resource.type} ${resource.id}`,
      `by ${actor.type} ${actor.id}`,
      endOf(event),
      JSON.stringify(changes)
    ].join("  ")
  )
  yield* print({ json: { data: events }, text: lines.join("\n") })
})

const pendingOf = (row: PendingRow) => ({
  id: row.id,
  account_id: row.account_id,
  type: row.type,
  effective_at: row.effective_at.toISOString(),
  actor: { type: row.actor_type, id: row.actor_id },
  resource: { type: row.resource_type, id: row.resource_id },
  request_id: row.request_id
})

const pendingEvents = Effect.fnUntraced(function* (email: Option.Option<string>, limit: number) {
  const account = Option.isSome(email) ? yield* accountOf(email.value) : undefined
  const { rows, total } = yield* (yield* Audit).pending(PENDING_AFTER_MS, account?.id)
  const events = rows.slice(0, limit).map(pendingOf)
  const lines = events.map(({ account_id, actor, effective_at, id, request_id, resource, type }) =>
    [
      effective_at,
      type.padEnd(24),
      id,
      `${resource.type} ${resource.id}`,
      `of account ${account_id}`,
      `by ${actor.type} ${actor.id}`,
      request_id ?? "no request"
    ].join("  ")
  )
  const text = total === 0 ? ["Nothing has been pending for over a minute."] : lines
  yield* print({ json: { pending: total, data: events }, text: text.join("\n") })
})

const acknowledge = Effect.fnUntraced(function* (id: string) {
  const accountId = yield* (yield* Audit).acknowledge(id, OPERATOR)
  if (accountId === undefined) {
    const message = `No audit entry with the id ${id} has been pending for over a minute`
    return yield* new CommandRefused({ message })
  }
  yield* print({
    json: { id, account_id: accountId, acknowledged: true },
    text: `Acknowledged the audit entry ${id} of account ${accountId}. It stays pending in that account's audit log.`
  })
})

const NO_OPERATOR_EVENTS =
  "Operators have changed no price plan, bound or operator key, and exported no receipts. Each account has an audit log " +
  "of the changes in it: add --email in place of --operators."

/** The fields of changes with amounts in nano-USD or basis points, and how people read them. */
const readable: Readonly<Record<string, readonly [name: string, show: (value: number | string) => string]>> = {
  limit_nano: ["limit", (nano) => formatUsd(BigInt(nano))],
  daily_spend: ["daily_spend", (nano) => formatUsd(BigInt(nano))],
  settled_nano_usd: ["settled", (nano) => formatUsd(BigInt(nano))],
  refunded_nano_usd: ["refunded", (nano) => formatUsd(BigInt(nano))],
  cost_nano_usd: ["cost", (nano) => formatUsd(BigInt(nano))],
  markup_bp: ["markup", (points) => `${Number(points) / 100} %`]
}

/** Shows amounts of changes in USD and percent. A value is itself or `{ from, to }`. */
const changesForPeople = (changes: unknown): unknown =>
  typeof changes !== "object" || changes === null
    ? changes
    : Object.fromEntries(
        Object.entries(changes).map(([field, value]: [string, unknown]) => {
          const [name, show] = readable[field] ?? [field, undefined]
          const one = (part: unknown) =>
            show !== undefined && (typeof part === "string" || typeof part === "number") ? show(part) : part
          const isPair = typeof value === "object" && value !== null && "from" in value && "to" in value
          return [name, isPair ? { from: one(value.from), to: one(value.to) } : one(value)]
        })
      )

const operatorEvents = Effect.fnUntraced(function* (limit: number) {
  const rows = yield* (yield* OperatorEvents).list({ after: null, limit })
  const events = rows.map((row) => ({
    id: row.id,
    type: row.type,
    effective_at: row.effective_at.toISOString(),
    actor: { id: row.actor_id, name: row.actor_name },
    resource: { type: row.resource_type, id: row.resource_id },
    request_id: row.request_id,
    changes: row.changes
  }))
  const lines = events.map(({ actor, changes, effective_at, resource, type }) =>
    [
      effective_at,
      type.padEnd(24),
      `${resource.type} ${resource.id}`,
      `by ${actor.name === null ? actor.id : `${actor.name} (${actor.id})`}`,
      JSON.stringify(changesForPeople(changes))
    ].join("  ")
  )
  yield* print({
    json: { data: events },
    text: lines.length === 0 ? NO_OPERATOR_EVENTS : lines.join("\n")
  })
})

const audit = Command.make(
  "audit",
  {
    email: Flags.email.pipe(Flag.optional),
    pending: Flags.pending,
    operators: Flags.ofOperators,
    acknowledge: Flags.acknowledged,
    limit: Flags.events
  },
  Effect.fn("audit")(function* ({ acknowledge: line, email, limit, operators, pending }) {
    if (Option.isSome(line)) return yield* acknowledge(line.value)
    if (operators && Option.isSome(email))
      return yield* new CommandRefused({ message: "--operators lists changes of no account; leave out --email." })
    if (operators) return yield* operatorEvents(limit)
    if (pending) return yield* pendingEvents(email, limit)
    if (Option.isNone(email))
      return yield* new CommandRefused({ message: "`audit` requires --email, --pending, --operators or --acknowledge" })
    return yield* accountEvents(email.value, limit)
  })
).pipe(
  Command.withDescription("Show an account's audit log, newest first, or list and acknowledge pending entries"),
  Command.withExamples([
    { command: "npm run admin -- audit --email ann@example.com" },
    { command: "npm run admin -- audit --pending" },
    { command: "npm run admin -- audit --operators" },
    { command: "npm run admin -- audit --acknowledge 0123456789abcdef01234567" }
  ]),
  Command.provide(database)
)

/** Describes which rows a verification read. Empty when there is no checkpoint. */
const readOf = ({ since, through }: Proof): ReadonlyArray<string> =>
  since === undefined
    ? []
    : [
        `Read what came after ${since.provedAt.toISOString()}; --whole reads everything, as on ${since.wholeAt.toISOString()}.`,
        ...(through === undefined ? ["The checkpoint stays where it was."] : [])
      ]

const verifyLedger = Command.make(
  "verify",
  { whole: Flags.whole, forget: Flags.forgetCheckpoint },
  Effect.fn("ledger verify")(function* ({ forget, whole }) {
    const proof = yield* proveBooks(yield* SqlClient.SqlClient, { whole: whole || forget, forget })
    const { checks, ok, since, through } = proof
    const lines = checks.map((check) => `${check.ok ? "ok    " : "FAILED"}  ${check.name.padEnd(32)}${check.detail}`)
    const read = since === undefined ? "whole" : since.provedAt.toISOString()
    yield* print({
      json: { ok, read_from: read, proved_through: through === undefined ? null : String(through), checks },
      text: [...lines, ...readOf(proof)].join("\n")
    })
    if (ok) return
    const failed = checks.filter((check) => !check.ok).map((check) => check.name)
    return yield* new CommandRefused({ message: `The ledger has errors: ${failed.join(", ")}` })
  })
).pipe(
  Command.withDescription("Verify the books since they were last proved, or whole; exits with 1 when they have errors"),
  Command.withExamples([
    { command: "npm run admin -- ledger verify" },
    { command: "npm run admin -- ledger verify --whole" }
  ]),
  Command.provide(database)
)

const topUps = Command.make("topups").pipe(
  Command.withDescription("List, settle and dismiss top-ups that need an operator, and end those that stay open"),
  Command.withSubcommands([listTopUps, settleTopUp, dismissTopUp, endTopUp])
)

const ledger = Command.make("ledger").pipe(
  Command.withDescription("Verify the books"),
  Command.withSubcommands([verifyLedger])
)

const admin = Command.make("admin").pipe(
  Command.withDescription(
    "Manual operations for the operator of tollgate. Settings come from the environment, as for npm start."
  ),
  Command.withSubcommands([
    account,
    key,
    operatorKey,
    requests,
    request,
    refund,
    plan,
    spend,
    report,
    exportCommand,
    topUp,
    adjust,
    topUps,
    audit,
    ledger,
    migrate,
    backup,
    restore,
    sandbox
  ]),
  Command.withGlobalFlags([json])
)

/** Runs the command that these arguments name. Returns its exit code: 0, or 1 when the command was refused or found a fault. */
export const run = (args: ReadonlyArray<string>) =>
  exitCode(Command.runWith(admin, { version: VERSION })(args)).pipe(
    Effect.provide([presenter, CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] })])
  )
