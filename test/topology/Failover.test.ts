/** The database restarts and fails over to its standby under load. The nodes connect to it over TLS. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../support/Until.ts"
import { debianPostgres } from "../platform/database/DebianPostgres.ts"
import { startTlsReplicas } from "../support/TlsReplicas.ts"
import { isFull, missing, startTopology } from "../support/Topology.ts"
import { announceSkip } from "../support/Skips.ts"
import { callerOf, chat, load } from "./Callers.ts"
import { checkCharges } from "./CheckCharges.ts"

const reason = missing ?? (debianPostgres ? undefined : "PostgreSQL 15 is not installed (Debian: postgresql-15)")
announceSkip("the failover of a database under load", reason)

const PER_NODE = 3

/** The promise of docs/operate/many-nodes.md, counted from when a host accepts writes. */
const SERVES_WITHIN_MS = 10_000

describe.skipIf(reason !== undefined)("three nodes on a database with a standby", () => {
  it.live("answer 503 during a restart or a failover, recover by themselves, and charge each request once", () =>
    Effect.gen(function* () {
      const { authorities, crash, failOver, start, tlsUrl, url } = yield* startTlsReplicas
      const topology = yield* startTopology({
        databaseUrl: url,
        settings: { DATABASE_URL: tlsUrl, NODE_EXTRA_CA_CERTS: authorities }
      })
      const { nodes, open, sql } = topology
      const encrypted = yield* sql`SELECT FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE ssl AND application_name = 'tollgate'`
      assert.isAtLeast(encrypted.length, nodes.length)
      const account = yield* open()
      /** The number of answers of each caller. A caller repeats a request under its key until it has the answer. */
      const received = new Map<number, number>()
      const callers = yield* load(
        PER_NODE * nodes.length,
        (caller) =>
          Effect.tap(
            chat(nodes[caller % nodes.length]!.origin, {
              key: account.key,
              idempotencyKey: `${caller}-${received.get(caller) ?? 0}`,
              stream: caller < nodes.length
            }),
            ({ isComplete }) => Effect.sync(() => isComplete && received.set(caller, (received.get(caller) ?? 0) + 1))
          ),
        "20 millis"
      )
      const servedAt = (index: number, since: number) =>
        callers.outcomes.find(
          (one) => one.isComplete && one.startedAt > since && callerOf(one) % nodes.length === index
        )
      const allServe = (since: number) =>
        until(
          "every node serves",
          Effect.sync(() => nodes.every((_, index) => servedAt(index, since) !== undefined))
        )
      for (const back of [...Array.from({ length: isFull ? 5 : 1 }, () => start), failOver]) {
        yield* allServe(performance.now())
        yield* crash
        // Longer than a hold waits for the database.
        yield* Effect.sleep("4 seconds")
        yield* back
        const writesAt = performance.now()
        yield* allServe(writesAt)
        for (const index of nodes.keys()) {
          assert.isBelow(servedAt(index, writesAt)!.endedAt - writesAt, SERVES_WITHIN_MS)
        }
      }
      yield* Effect.sleep("500 millis")
      yield* callers.end
      const failed = callers.outcomes.filter(({ isComplete }) => !isComplete)
      assert.isAbove(failed.length, 0)
      for (const { code, headers, status } of failed) {
        assert.strictEqual(code, "store_unavailable")
        // A stream that has begun ends with an error event.
        if (status !== 200) assert.strictEqual(status, 503)
        if (status === 503) assert.match(headers["retry-after"] ?? "", /^[1-9]\d*$/)
      }
      yield* checkCharges(topology, account, callers.outcomes)
    }).pipe(Effect.scoped)
  )
})
