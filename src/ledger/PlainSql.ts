/** The ledger's statements for plain operations: those that need not be judged one after the other, which are most of them. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { maxNano, type Nano } from "../domain/Money.ts"
import { storable, storableText } from "../platform/database/Sql.ts"
import type { Statements } from "../platform/database/Statements.ts"
import { functionNamed } from "./FunctionsSql.ts"
import type { AnyResult, CloseOperation, CloseResult, HoldOperation, HoldResult, Operation } from "./Operation.ts"

/** Whether an operation is plain. */
export const isPlain = (op: Operation, accountId: string): op is HoldOperation | CloseOperation =>
  op.accountId === accountId &&
  (op._tag === "Hold"
    ? !op.charge && op.simulated !== true && op.budgets.length === 0
    : op._tag === "Close" && !op.onlyIfExpired)

/** Within a group, a claim that a close frees is not yet free for a hold. So a plain group with closes has no hold with a claim. */
const arePlain = (
  operations: ReadonlyArray<Operation>
): operations is ReadonlyArray<HoldOperation | CloseOperation> => {
  const [first] = operations
  const ends = operations.some((op) => op._tag === "Close")
  return (
    first !== undefined &&
    operations.every((op) => isPlain(op, first.accountId) && !(ends && op._tag === "Hold" && op.claim !== undefined))
  )
}

/** The amount of a plain hold. */
const wantedBy = (op: HoldOperation): Nano => maxNano(op.atLeast, op.upTo)

const document = (facts: object): string => storable(JSON.stringify(facts))

const answerOf = ({ answer }: CloseOperation): string | null => (answer === null ? null : document(answer))

/** The columns of a claim. */
const claimOf = ({ claim }: HoldOperation) =>
  claim === undefined
    ? { claim: null, fingerprint: null, idempotencyKey: null }
    : {
        claim: storableText(claim.claim),
        fingerprint: claim.fingerprint,
        idempotencyKey: storableText(claim.idempotencyKey)
      }

const commitHold = (sql: Statements, op: HoldOperation) => {
  const { claim, fingerprint, idempotencyKey } = claimOf(op)
  const amount = wantedBy(op)
  return Effect.map(
    sql.unsafe<{ granted: bigint | null }>(
      `SELECT ${functionNamed("ledger_hold")}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13) AS granted`,
      [
        op.accountId,
        op.requestId,
        op.keyId,
        op.projectId,
        op.operation,
        storableText(op.model),
        amount,
        BigInt(op.ttlMs),
        op.budgetsEpoch,
        document(op.opened),
        idempotencyKey,
        claim,
        fingerprint
      ]
    ),
    ([row]): [HoldResult] | undefined =>
      typeof row?.granted === "bigint" ? [{ _tag: "Granted", granted: row.granted }] : undefined
  )
}

const commitClose = (sql: Statements, op: CloseOperation) =>
  Effect.map(
    sql.unsafe<{ books: ReadonlyArray<bigint> | null }>(
      `SELECT ${functionNamed("ledger_close")}($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10::jsonb) AS books`,
      [
        op.accountId,
        op.requestId,
        op.settle !== undefined,
        op.settle?.cost ?? null,
        op.status,
        op.resolvedModel,
        op.provider,
        document(op.closed),
        op.keepClaim,
        answerOf(op)
      ]
    ),
    ([row]): [CloseResult] | undefined => {
      const [settled, absorbed, posted, held] = row?.books ?? []
      if (settled === undefined || absorbed === undefined || posted === undefined || held === undefined)
        return undefined
      return [{ _tag: "Closed", settled, absorbed, posted, held }]
    }
  )

/** An array in PostgreSQL's text form. For a JavaScript array, the driver would inspect each element for its type. */
type Column = string | null

const quoted = (text: string): string =>
  `"${text.includes('"') || text.includes("\\") ? text.replaceAll(/["\\]/g, "\\$&") : text}"`

const texts = (values: ReadonlyArray<string | null>): Column => {
  let elements = ""
  for (const value of values) elements += `${elements === "" ? "" : ","}${value === null ? "NULL" : quoted(value)}`
  return `{${elements}}`
}

const numbers = (values: ReadonlyArray<bigint | number | null>): Column =>
  `{${values.map((value) => value ?? "NULL").join(",")}}`

const flags = (values: ReadonlyArray<boolean>): Column => `{${values.join(",")}}`

/** A column that is usually all null. Then it is absent, and `ledger_plain` does not look at it. */
const optional = (values: ReadonlyArray<string | null>): Column =>
  values.some((value) => value !== null) ? texts(values) : null

const closeColumns = (closes: ReadonlyArray<CloseOperation>): ReadonlyArray<Column> => [
  texts(closes.map((op) => op.requestId)),
  flags(closes.map((op) => op.settle !== undefined)),
  numbers(closes.map((op) => op.settle?.cost ?? null)),
  texts(closes.map((op) => op.status)),
  texts(closes.map((op) => op.resolvedModel)),
  texts(closes.map((op) => op.provider)),
  texts(closes.map((op) => document(op.closed))),
  flags(closes.map((op) => op.keepClaim)),
  optional(closes.map(answerOf))
]

const holdColumns = (holds: ReadonlyArray<HoldOperation>): ReadonlyArray<Column> => {
  const claims = holds.map(claimOf)
  return [
    texts(holds.map((op) => op.requestId)),
    texts(holds.map((op) => op.keyId)),
    texts(holds.map((op) => op.projectId)),
    texts(holds.map((op) => op.operation)),
    texts(holds.map((op) => storableText(op.model))),
    numbers(holds.map(wantedBy)),
    numbers(holds.map((op) => op.ttlMs)),
    texts(holds.map((op) => document(op.opened))),
    optional(claims.map((one) => one.idempotencyKey)),
    optional(claims.map((one) => one.claim)),
    optional(claims.map((one) => one.fingerprint))
  ]
}

/** The keys that the holds name, each once per epoch of its budgets. */
const keyColumns = (holds: ReadonlyArray<HoldOperation>): ReadonlyArray<Column> => {
  const keys = [...new Map(holds.map((op) => [`${op.keyId} ${op.budgetsEpoch}`, op])).values()]
  return [texts(keys.map((op) => op.keyId)), numbers(keys.map((op) => op.budgetsEpoch))]
}

/** The parameters of `ledger_plain` after the account, in its order. */
const columnsOf = (
  closes: ReadonlyArray<CloseOperation>,
  holds: ReadonlyArray<HoldOperation>
): ReadonlyArray<Column> => [...closeColumns(closes), ...holdColumns(holds), ...keyColumns(holds)]

const plainGroup = `SELECT ${functionNamed("ledger_plain")}($1, ${columnsOf([], [])
  .map((_, index) => `$${index + 2}`)
  .join(", ")}) AS books`

const commitPlainGroup = (
  sql: Statements,
  accountId: string,
  operations: ReadonlyArray<HoldOperation | CloseOperation>
) => {
  const closes = operations.filter((op) => op._tag === "Close")
  const holds = operations.filter((op) => op._tag === "Hold")
  return Effect.map(
    sql.unsafe<{ books: ReadonlyArray<bigint> | null }>(plainGroup, [accountId, ...columnsOf(closes, holds)]),
    ([row]): ReadonlyArray<AnyResult> | undefined => {
      const books = row?.books ?? []
      let [posted, held] = books.slice(-2)
      if (posted === undefined || held === undefined) return undefined
      let close = 0
      const results: Array<AnyResult> = []
      for (const op of operations) {
        if (op._tag === "Hold") {
          results.push({ _tag: "Granted", granted: wantedBy(op) })
          continue
        }
        const [settled = 0n, absorbed = 0n, freed = 0n] = [0, 1, 2].map((part) => books[part * closes.length + close])
        close += 1
        posted -= settled
        held -= freed
        results.push({ _tag: "Closed", settled, absorbed, posted, held })
      }
      return results
    }
  )
}

/**
 * Commits plain operations in one statement, atomically, and returns their results in order. Returns undefined, with nothing changed,
 * when an operation is not plain, or its claim or request already exists. Then the operations must be judged.
 */
export const commitPlain = (
  sql: Statements,
  operations: ReadonlyArray<Operation>
): Effect.Effect<ReadonlyArray<AnyResult> | undefined, SqlError.SqlError> => {
  if (!arePlain(operations)) return Effect.undefined
  const [first, another] = operations
  if (first === undefined) return Effect.undefined
  const committed: Effect.Effect<ReadonlyArray<AnyResult> | undefined, SqlError.SqlError> =
    another !== undefined
      ? commitPlainGroup(sql, first.accountId, operations)
      : first._tag === "Hold"
        ? commitHold(sql, first)
        : commitClose(sql, first)
  return Effect.catchIf(
    committed,
    (error) => error.reason._tag === "UniqueViolation",
    () => Effect.undefined
  )
}
