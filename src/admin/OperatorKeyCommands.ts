/** The commands that create, list and revoke the keys of operators. No endpoint does. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { DAY_MS } from "../domain/Day.ts"
import { OperatorKeys } from "../account/OperatorKeys.ts"
import type { OperatorKeyRow } from "../account/OperatorKeysSql.ts"
import { database } from "./Database.ts"
import * as Flags from "./Flags.ts"
import { print, CommandRefused } from "./Output.ts"
import { tableOf } from "./Table.ts"

const create = Command.make(
  "create",
  { name: Flags.keyName, days: Flags.expiresInDays },
  Effect.fn("operator-key create")(function* ({ days, name }) {
    const expiresAt = Option.match(days, {
      onNone: () => null,
      onSome: (count) => new Date(Date.now() + count * DAY_MS)
    })
    const created = yield* (yield* OperatorKeys).create({ name, expiresAt })
    yield* print({
      json: { id: created.id, key: created.key, expires_at: expiresAt?.toISOString() ?? null },
      text: `Created the operator key ${created.id}. It reaches every account and appears only here:\n\n  ${created.key}`
    })
  })
).pipe(
  Command.withDescription("Create a key for the endpoints below /operator"),
  Command.withExamples([{ command: "npm run admin -- operator-key create --name support --expires-in-days 90" }]),
  Command.provide(database)
)

const list = Command.make(
  "list",
  {},
  Effect.fn("operator-key list")(function* () {
    const rows = yield* (yield* OperatorKeys).list
    yield* print({
      json: {
        data: rows.map(({ created_at, expires_at, revoked_at, ...row }) => ({
          ...row,
          created_at: created_at.toISOString(),
          expires_at: expires_at?.toISOString() ?? null,
          revoked_at: revoked_at?.toISOString() ?? null
        }))
      },
      text: tableOf<OperatorKeyRow>(
        [
          { heading: "ID", cell: ({ id }) => id },
          { heading: "NAME", cell: (row) => row.name },
          { heading: "KEY", cell: ({ last4 }) => `svc_ok_...${last4}` },
          { heading: "STATE", cell: ({ state }) => state },
          { heading: "CREATED", cell: ({ created_at }) => created_at.toISOString() },
          { heading: "EXPIRES", cell: ({ expires_at }) => expires_at?.toISOString() ?? "-" }
        ],
        rows,
        "There are no operator keys."
      )
    })
  })
).pipe(
  Command.withDescription("List operator keys, newest first"),
  Command.withExamples([{ command: "npm run admin -- operator-key list" }]),
  Command.provide(database)
)

const revoke = Command.make(
  "revoke",
  { id: Flags.operatorKeyArgument },
  Effect.fn("operator-key revoke")(function* ({ id }) {
    if (!(yield* (yield* OperatorKeys).revoke(id))) {
      return yield* new CommandRefused({ message: `There is no active operator key with the id ${id}` })
    }
    yield* print({
      json: { id, revoked: true },
      text: `Revoked the operator key ${id}. It stops at once on every node.`
    })
  })
).pipe(
  Command.withDescription("Revoke an operator key at once"),
  Command.withExamples([{ command: "npm run admin -- operator-key revoke 0123456789abcdef01234567" }]),
  Command.provide(database)
)

export const operatorKey = Command.make("operator-key").pipe(
  Command.withDescription("Create, list and revoke keys for the endpoints below /operator"),
  Command.withSubcommands([create, list, revoke])
)
