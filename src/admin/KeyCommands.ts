/** The commands that create, list and revoke keys. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { type KeyKind, Keys } from "../account/Keys.ts"
import { type Scope, scopes } from "../auth/Scopes.ts"
import { OPERATOR } from "../billing/Customers.ts"
import type { KeyLine } from "../operator/OperatorSql.ts"
import { Operator } from "../operator/Operator.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { accountOf } from "./MoneyCommands.ts"
import { print, CommandRefused } from "./Output.ts"
import { tableOf } from "./Table.ts"

/**
 * Returns the scopes of a new key: all of them for a management key unless the operator chooses some, none for an inference key.
 */
const scopesFor = (kind: KeyKind, chosen: Option.Option<ReadonlyArray<Scope>>) => {
  if (kind === "management") return Effect.succeed(Option.getOrElse(chosen, () => scopes))
  if (Option.isNone(chosen)) return Effect.succeed([])
  return Effect.fail(new CommandRefused({ message: "--scopes requires --kind management" }))
}

const createKey = Command.make(
  "create",
  { email: Flags.email, name: Flags.keyName, kind: Flags.keyKind, scopes: Flags.keyScopes },
  Effect.fn("key create")(function* ({ email, kind, name, scopes: chosen }) {
    const granted = yield* scopesFor(kind, chosen)
    const account = yield* accountOf(email)
    const created = yield* (yield* Keys).create({ accountId: account.id, kind, name, scopes: granted, actor: OPERATOR })
    yield* print({
      json: { id: created.id, key: created.key },
      text: `Created the ${kind} key ${created.id} for ${account.email}. It appears only here:\n\n  ${created.key}`
    })
  })
).pipe(
  Command.withDescription("Create another key for an account"),
  Command.withExamples([
    { command: "npm run admin -- key create --email ann@example.com --name laptop" },
    { command: "npm run admin -- key create --email ann@example.com --kind management --scopes keys:read,usage:read" }
  ]),
  Command.provide(database)
)

const revokeKey = Command.make(
  "revoke",
  { key: Flags.keyArgument, id: Flags.keyId },
  Effect.fn("key revoke")(function* ({ id: flag, key: named }) {
    const ids = [...Option.toArray(named), ...Option.toArray(flag)]
    const [id] = ids
    if (id === undefined || ids.length > 1)
      return yield* new CommandRefused({ message: "key revoke requires one key's id" })
    if (!(yield* (yield* Keys).revoke(id, OPERATOR))) {
      return yield* new CommandRefused({ message: `There is no active key with the id ${id}` })
    }
    yield* print({
      json: { id, revoked: true },
      text: `Revoked the key ${id}. It stops working at once, on every node.`
    })
  })
).pipe(
  Command.withDescription("Revoke a key at once"),
  Command.withExamples([{ command: "npm run admin -- key revoke 0123456789abcdef01234567" }]),
  Command.provide(database)
)

/** The maximum number of listed keys: more than any account has. */
const MAX_KEYS = 100_000

const listKeys = Command.make(
  "list",
  { account: Flags.accountFlag },
  Effect.fn("key list")(function* ({ account: name }) {
    const account = yield* accountOf(name)
    const { rows } = yield* (yield* Operator).keys(account.id, { after: null, limit: MAX_KEYS })
    yield* print({
      json: {
        account_id: account.id,
        data: rows.map(({ created_at, expires_at, revoked_at, ...row }) => ({
          ...row,
          created_at: created_at.toISOString(),
          expires_at: expires_at?.toISOString() ?? null,
          revoked_at: revoked_at?.toISOString() ?? null
        }))
      },
      text: tableOf<KeyLine>(
        [
          { heading: "ID", cell: ({ id }) => id },
          { heading: "KIND", cell: ({ kind }) => kind },
          { heading: "NAME", cell: (row) => row.name },
          { heading: "KEY", cell: ({ last4, prefix }) => `${prefix}...${last4}` },
          { heading: "STATE", cell: ({ state }) => state },
          { heading: "PROJECT", cell: ({ project_id }) => project_id ?? "-" },
          { heading: "CREATED", cell: ({ created_at }) => created_at.toISOString() },
          { heading: "EXPIRES", cell: ({ expires_at }) => expires_at?.toISOString() ?? "-" }
        ],
        rows,
        `${account.email} has no keys.`
      )
    })
  })
).pipe(
  Command.withDescription("List an account's keys of both kinds, newest first"),
  Command.withExamples([{ command: "npm run admin -- key list --account ann@example.com" }]),
  Command.provide(database)
)

export const key = Command.make("key").pipe(
  Command.withDescription("Create, list and revoke keys"),
  Command.withSubcommands([createKey, listKeys, revokeKey])
)
