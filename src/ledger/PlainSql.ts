/** The ledger's statements for operations that need not be judged one after the other, which most are. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { maxNano, type Nano } from "../domain/Money.ts"
import { storable, storableText } from "../platform/database/Sql.ts"
import type { Statements } from "../platform/database/Statements.ts"
import { functionNamed } from "./FunctionsSql.ts"
import type { AnyResult, CloseOperation, CloseResult, HoldOperation, HoldResult, Operation } from "./Operation.ts"

/** Whether the database may take an operation together with others like it, without judging them one after the other. */
export const isPlain = (op: Operation, accountId: string): op is HoldOperation | CloseOperation =>
  op.accountId === accountId &&
  (op._tag === "Hold"
    ? !op.charge && op.simulated !== true && op.budgets.length === 0
    : op._tag === "Close" && !op.onlyIfExpired)

/** A claim that one of a group frees is not free for the others, so that plain groups with ends in them lay no claims. */
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

/** What a plain hold takes. */
const wantedBy = (op: HoldOperation): Nano => maxNano(op.atLeast, op.upTo)

const document = (facts: object): string => storable(JSON.stringify(facts))

const answerOf = ({ answer }: CloseOperation): string | null => (answer === null ? null : document(answer))

/** Of a claim, as the database keeps it. */
const claimOf = ({ claim }: HoldOperation) =>
  claim === undefined
    ? { claim: null, fingerprint: null, idempotencyKey: null }
    : {
        claim: storableText(claim.claim),
        fingerprint: claim.fingerprint,
        idempotencyKey: storableText(claim.idempotencyKey)
      }

const heldAlone = (sql: Statements, op: HoldOperation) => {
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

const closedAlone = (sql: Statements, op: CloseOperation) =>
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

/** A parameter of `ledger_plain`, as PostgreSQL writes an array: the driver looks at each element of a JavaScript array for its type. */
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

/** A column that is mostly absent, which `ledger_plain` need not look at then. */
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

/** Every key that holds name, once for each state of its budgets that one of them knows. */
const keyColumns = (holds: ReadonlyArray<HoldOperation>): ReadonlyArray<Column> => {
  const keys = [...new Map(holds.map((op) => [`${op.keyId} ${op.budgetsEpoch}`, op])).values()]
  return [texts(keys.map((op) => op.keyId)), numbers(keys.map((op) => op.budgetsEpoch))]
}

/** The parameters of `ledger_plain` behind the account, in its order. */
const columnsOf = (
  closes: ReadonlyArray<CloseOperation>,
  holds: ReadonlyArray<HoldOperation>
): ReadonlyArray<Column> => [...closeColumns(closes), ...holdColumns(holds), ...keyColumns(holds)]

const together = `SELECT ${functionNamed("ledger_plain")}($1, ${columnsOf([], [])
  .map((_, index) => `$${index + 2}`)
  .join(", ")}) AS books`

const carriedOutTogether = (
  sql: Statements,
  accountId: string,
  operations: ReadonlyArray<HoldOperation | CloseOperation>
) => {
  const closes = operations.filter((op) => op._tag === "Close")
  const holds = operations.filter((op) => op._tag === "Hold")
  return Effect.map(
    sql.unsafe<{ books: ReadonlyArray<bigint> | null }>(together, [accountId, ...columnsOf(closes, holds)]),
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
 * Carries out operations in one statement of few rules, atomically, and answers each in its place. Undefined, and nothing has
 * happened, where they are not as plain as that, or a claim or a request is there before: then they are to be judged.
 */
export const plainly = (
  sql: Statements,
  operations: ReadonlyArray<Operation>
): Effect.Effect<ReadonlyArray<AnyResult> | undefined, SqlError.SqlError> => {
  if (!arePlain(operations)) return Effect.undefined
  const [first, another] = operations
  if (first === undefined) return Effect.undefined
  const carriedOut: Effect.Effect<ReadonlyArray<AnyResult> | undefined, SqlError.SqlError> =
    another !== undefined
      ? carriedOutTogether(sql, first.accountId, operations)
      : first._tag === "Hold"
        ? heldAlone(sql, first)
        : closedAlone(sql, first)
  return Effect.catchIf(
    carriedOut,
    (error) => error.reason._tag === "UniqueViolation",
    () => Effect.undefined
  )
}
