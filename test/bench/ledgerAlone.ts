/**
 * A process that only holds and settles on one account for a time, and prints the number of operations. Its arguments: `group` for the
 * product's ledger or `transactions` for one transaction for each operation; the account's id; seconds of warm-up; seconds to count.
 * DATABASE_URL names the database.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Ledger } from "../../src/ledger/Ledger.ts"
import type { CloseOperation, HoldOperation } from "../../src/ledger/Operation.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { connect, layerOf } from "../../src/platform/database/Sql.ts"
import { BenchError } from "./BenchError.ts"
import { holdAlone, keyOf, settleAlone } from "./TransactionsSql.ts"

const GROUP_FIBERS = 256
const TRANSACTION_CONNECTIONS = 32
/** The service's default. */
const GROUP_CONNECTIONS = 10

const HOLD = 200_000n
const COST = 50_000n

const [mode = "", accountId = "", warm = "", counted = ""] = process.argv.slice(2)

/** About as large as the facts of a chat request. */
const opened = { queueMs: 0.087 }
const closed = {
  usage: { input: 148, output: 24 },
  basis: "reported",
  rates: { tiers: [[0, 150_000, 75_000, 150_000, 600_000]] },
  attemptMs: [2.432, 2.468],
  finishReason: "stop",
  holdMs: 2.345,
  totalMs: 6.789,
  overheadMs: 4.321,
  endedAtMs: 1_795_475_051_674
}

const holdOf = (keyId: string): HoldOperation => ({
  _tag: "Hold",
  requestId: newRequestId(),
  accountId,
  keyId,
  projectId: null,
  operation: "chat.completions",
  model: "gpt-4o-mini",
  atLeast: HOLD,
  upTo: HOLD,
  ttlMs: 900_000,
  budgets: [],
  budgetsEpoch: 0,
  opened,
  claim: undefined,
  charge: false
})

const closeOf = (requestId: string): CloseOperation => ({
  _tag: "Close",
  requestId,
  accountId,
  settle: { cost: COST },
  onlyIfExpired: false,
  status: "succeeded",
  keepClaim: true,
  resolvedModel: "gpt-4o-mini",
  provider: "openai",
  closed,
  answer: null
})

const refusal = (what: string) => new BenchError({ message: `The ledger refused a ${what}.` })

/** A hold and its settle by the product's ledger. */
const groupPair = (ledger: Ledger["Service"], keyId: string) =>
  Effect.gen(function* () {
    const hold = holdOf(keyId)
    if ((yield* ledger.commit(hold))._tag !== "Granted") return yield* refusal("hold")
    if ((yield* ledger.commit(closeOf(hold.requestId)))._tag !== "Closed") return yield* refusal("settle")
  })

/** A hold and its settle, with a transaction for each. */
const transactionPair = (sql: SqlClient.SqlClient, keyId: string) =>
  Effect.gen(function* () {
    const hold = holdOf(keyId)
    if (!(yield* holdAlone(sql, hold))) return yield* refusal("hold")
    if (!(yield* settleAlone(sql, closeOf(hold.requestId), COST))) return yield* refusal("settle")
  })

/** Runs pairs of operations in many fibers, and counts those that end within the counted time. */
const measure = <E>(fibers: number, pair: Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const began = performance.now()
    const from = began + Number(warm) * 1_000
    const until = from + Number(counted) * 1_000
    let operations = 0
    const fiber = Effect.whileLoop({
      while: () => performance.now() < until,
      body: () => pair,
      step: () => {
        const now = performance.now()
        if (now >= from && now < until) operations += 2
      }
    })
    yield* Effect.all(
      Array.from({ length: fibers }, () => fiber),
      { concurrency: "unbounded", discard: true }
    )
    return { operations, seconds: Number(counted) }
  })

const main = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keyId = yield* keyOf(sql, accountId)
  const ledger = yield* Ledger
  const outcome =
    mode === "group"
      ? yield* measure(GROUP_FIBERS, groupPair(ledger, keyId))
      : yield* measure(TRANSACTION_CONNECTIONS, transactionPair(sql, keyId))
  yield* Console.log(JSON.stringify(outcome))
})

const database = layerOf(
  connect({
    url: Redacted.make(process.env["DATABASE_URL"] ?? ""),
    poolSize: mode === "group" ? GROUP_CONNECTIONS : TRANSACTION_CONNECTIONS,
    called: "The bench's database"
  })
)

NodeRuntime.runMain(
  main.pipe(Effect.provide(Ledger.layer.pipe(Layer.provideMerge(database), Layer.provideMerge(Logger.layer([])))))
)
