import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Failure, invalid } from "../domain/Failure.ts"
import { Secrets } from "../platform/Secrets.ts"
import { pageBy } from "../platform/database/Page.ts"
import { storeErrors, type Unavailable } from "../platform/database/Sql.ts"
import { type TransactionRow, transactionsOf } from "./TransactionsSql.ts"

/** A movement of an account's money other than a charge. */
export interface Transaction extends Omit<TransactionRow, "id"> {
  readonly id: string
}

/** A page of transactions, newest first. `next` is the cursor of the next page; null on the last. */
export interface TransactionsPage {
  readonly rows: ReadonlyArray<Transaction>
  readonly next: string | null
}

/** The maximum number of a transfer. A cursor that decodes to more was not created by this service. */
const MAX_NUMBER = 2n ** 53n

const ROUNDS = [0, 1, 2, 3] as const

/** The movements of an account's money other than charges, which have receipts. */
export class Transactions extends Context.Service<
  Transactions,
  {
    /** Returns one page. Fails with `ValidationError` for a cursor that is not the `next` of a page. */
    readonly page: (
      accountId: string,
      page: { readonly limit: number; readonly cursor: string | undefined }
    ) => Effect.Effect<TransactionsPage, Failure | Unavailable>
  }
>()("tollgate/billing/Transactions") {
  static readonly layer = Layer.effect(
    Transactions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { numberOf, textOf } = idsOf(yield* Secrets)
      return Transactions.of({
        page: Effect.fnUntraced(function* (accountId, { cursor, limit }) {
          const before = cursor === undefined ? null : numberOf(cursor)
          if (before === undefined) return yield* invalid("cursor", "must be the next_cursor of a page of transactions")
          const found = yield* transactionsOf(sql, accountId, before, limit + 1)
          const { next, rows } = pageBy(found, limit, ({ id }) => textOf(id))
          return { rows: rows.map((row) => ({ ...row, id: textOf(row.id) })), next }
        }, storeErrors)
      })
    })
  )
}

/**
 * Encrypts the number of a transfer. Transfers of all accounts are numbered in one sequence, so plain numbers would reveal how many
 * transfers other accounts have. The cipher is a Feistel network of four rounds (Luby and Rackoff, 1988) over both halves of 64 bits.
 */
export const idsOf = ({ digest }: Pick<Secrets["Service"], "digest">) => {
  const mixed = (round: number, half: number): number => digest(`${round} ${half}`, "transaction id").readUInt32BE()
  return {
    /** Returns the public form of a number: `txn_` and 16 hexadecimal characters. */
    textOf: (id: bigint): string => {
      let [left, right] = [Number(id >> 32n), Number(id & 0xffffffffn)]
      for (const round of ROUNDS) [left, right] = [right, (left ^ mixed(round, right)) >>> 0]
      return `txn_${[left, right].map((half) => half.toString(16).padStart(8, "0")).join("")}`
    },
    /** Returns the number of a public form; undefined for any other text. */
    numberOf: (text: string): bigint | undefined => {
      let [left, right] = [Number.parseInt(text.slice(4, 12), 16), Number.parseInt(text.slice(12), 16)]
      for (const round of ROUNDS.toReversed()) [left, right] = [(right ^ mixed(round, left)) >>> 0, left]
      const number = (BigInt(left) << 32n) | BigInt(right)
      return number < MAX_NUMBER ? number : undefined
    }
  }
}
