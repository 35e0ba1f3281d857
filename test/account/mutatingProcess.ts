/**
 * A process that changes an account and is killed at a given moment: `before` its commit or `after` it. Its arguments are the
 * moment, the database and the address of the account. It prints `there` when it reaches the moment, and waits to be killed.
 */
import { Effect, Layer, Redacted } from "effect"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Mutations } from "../../src/account/Mutations.ts"
import { connect, layerOf } from "../../src/platform/database/Sql.ts"
import { Reactivity } from "effect/reactivity"

const [moment, url, email] = process.argv.slice(2) as [string, string, string]

const there = Effect.andThen(
  Effect.sync(() => void process.stdout.write("there\n")),
  Effect.never
)

const database = layerOf(connect({ url: Redacted.make(url), poolSize: 2, called: "The test database" })).pipe(
  Layer.provide(Reactivity.layer)
)

/** The audit log of a process that dies before it completes an entry. */
const audit =
  moment === "before"
    ? Audit.layer
    : Layer.effect(
        Audit,
        Effect.map(Audit, (real) => ({ ...real, complete: () => there }))
      ).pipe(Layer.provide(Audit.layer))

const rooms = Layer.mergeAll(Accounts.layer, Mutations.layer).pipe(
  Layer.provideMerge(audit),
  Layer.provideMerge(database)
)

const change = Effect.gen(function* () {
  const accounts = yield* Accounts
  const mutations = yield* Mutations
  const account = (yield* accounts.findByEmail(email))!
  const accountId = account.id
  const actor = { type: "operator", id: "test" } as const
  yield* mutations.run({
    accountId,
    actor,
    requestId: "req_00000000000000000000000000",
    type: "account.limits_changed",
    resource: { type: "account", id: accountId },
    keepAnswer: true,
    codeOf: ({ _tag }) => _tag,
    claim: { claim: "POST /x key", fingerprint: "f" },
    work: Effect.andThen(
      accounts.setLimitScale(account, 7, actor),
      moment === "before" ? there : Effect.succeed({ changed: true })
    )
  })
})

Effect.runFork(Effect.scoped(Effect.flatMap(Layer.build(rooms), (context) => Effect.provide(change, context))))
