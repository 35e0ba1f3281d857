import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer } from "effect"
import { vi } from "vitest"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Budgets } from "../../src/account/Budgets.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Projects } from "../../src/account/Projects.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { freshDatabase, layerUrl } from "../support/Database.ts"
import { giveBack, takeAway, whenBack } from "../support/Outage.ts"

const actor = { type: "operator", id: "test" } as const
const rooms = Auth.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Accounts.layer, Keys.layer, Projects.layer)),
  Layer.provideMerge(Layer.mergeAll(Audit.layer, Budgets.layer))
)

const scene = Effect.gen(function* () {
  const url = yield* freshDatabase("auth")
  const context = yield* Layer.build(rooms.pipe(Layer.provide(layerUrl(url))))
  return yield* Effect.gen(function* () {
    const auth = yield* Auth
    const keys = yield* Keys
    const account = yield* (yield* Accounts).create("auth@example.com", actor)
    const create = (kind: "inference" | "management") =>
      keys.create({ accountId: account.id, kind, name: kind, scopes: ["usage:read"], actor })
    const reasonOf = (header: string | undefined) =>
      Effect.map(Effect.flip(auth.authenticate(header, "inference")), ({ reason }) => reason._tag)
    return {
      url,
      auth,
      keys,
      account,
      projects: yield* Projects,
      reasonOf,
      inference: yield* create("inference"),
      management: yield* create("management")
    }
  }).pipe(Effect.provide(context))
})

describe("Auth", () => {
  it.live("distinguishes a missing key, an invalid one and one of the wrong kind", () =>
    Effect.gen(function* () {
      const { account, auth, inference, management, reasonOf } = yield* scene
      assert.isUndefined(auth.remembered(`Bearer ${inference.key}`, "inference"))
      const principal = yield* auth.authenticate(`Bearer ${inference.key}`, "inference")
      assert.deepInclude(principal, { accountId: account.id, keyId: inference.id, kind: "inference", limitScale: 1 })
      assert.deepStrictEqual(auth.remembered(`bearer   ${inference.key}`, "inference"), principal)
      assert.isUndefined(auth.remembered(`Bearer ${inference.key}`, "management"))
      assert.strictEqual(yield* reasonOf(undefined), "MissingApiKey")
      assert.strictEqual(yield* reasonOf(""), "MissingApiKey")
      const bad = ["Bearer", "Basic abc", inference.key, "Bearer svc_sk_short", `Bearer ${inference.key}x`]
      for (const header of [...bad, `Bearer svc_sk_${"A".repeat(43)}`]) {
        assert.strictEqual(yield* reasonOf(header), "InvalidApiKey", header)
      }
      const detailOf = (header: string) =>
        Effect.map(Effect.flip(auth.authenticate(header, "inference")), ({ reason }) =>
          reason._tag === "InvalidApiKey" ? reason.detail : reason._tag
        )
      assert.match((yield* detailOf(inference.key)) ?? "", /must be `Bearer <key>`/)
      assert.match((yield* detailOf("Bearer sk-proj-abc")) ?? "", /must contain a key of this service/)
      assert.isUndefined(yield* detailOf("Bearer svc_sk_short"))
      assert.strictEqual(yield* reasonOf(`Bearer ${management.key}`), "WrongKeyKind")
      assert.isUndefined(auth.remembered(`Bearer ${management.key}`, "inference"))
      assert.isUndefined(auth.remembered(undefined, "inference"))
    }).pipe(Effect.scoped)
  )

  it.live("sees a revocation at once on free operations, and on paid ones after `forget`", () =>
    Effect.gen(function* () {
      const { auth, inference, keys, reasonOf } = yield* scene
      const header = `Bearer ${inference.key}`
      yield* auth.authenticate(header, "inference")
      yield* keys.revoke(inference.id, actor)
      assert.strictEqual(auth.remembered(header, "inference")?.keyId, inference.id)
      assert.strictEqual(yield* reasonOf(header), "InvalidApiKey")
      auth.forget(inference.id)
      assert.isUndefined(auth.remembered(header, "inference"))
    }).pipe(Effect.scoped)
  )

  it.live("distinguishes the keys of one connection, and forgets a key for its connection too", () =>
    Effect.gen(function* () {
      const { auth, inference, management } = yield* scene
      const connection = {}
      const header = `Bearer ${inference.key}`
      const remembered = (authorization: string | undefined) =>
        auth.remembered(authorization, "inference", connection)?.keyId
      assert.isUndefined(remembered(header))
      yield* auth.authenticate(header, "inference")
      const others = [undefined, `Bearer ${management.key}`, "Bearer"]
      for (const other of others)
        assert.deepStrictEqual([remembered(header), remembered(other)], [inference.id, undefined])
      assert.strictEqual(remembered(header), inference.id)
      auth.forget(inference.id)
      assert.isUndefined(remembered(header))
    }).pipe(Effect.scoped)
  )

  it.live("forgets the keys of a changed project, and does not remember a read that is under way", () =>
    Effect.gen(function* () {
      const { account, auth, inference, keys, projects } = yield* scene
      const { id: projectId } = yield* projects.create({
        accountId: account.id,
        id: newResourceId(),
        actor,
        project: { name: "p", routing: { strategy: "cost" } }
      })
      const of = { accountId: account.id, kind: "inference", name: "k", scopes: [], actor } as const
      const { key } = yield* keys.create({ ...of, projectId, routing: { allow_fallbacks: false } })
      const [inside, outside] = [`Bearer ${key}`, `Bearer ${inference.key}`]
      const routing = { strategy: "cost", allow_fallbacks: false } as const
      assert.deepInclude(yield* auth.authenticate(inside, "inference"), { projectId, routing })
      assert.notProperty(yield* auth.authenticate(outside, "inference"), "routing")
      auth.forgetProject(projectId)
      assert.isUndefined(auth.remembered(inside, "inference"))
      assert.isDefined(auth.remembered(outside, "inference"))
      const reading = yield* Effect.forkChild(auth.authenticate(inside, "inference"), { startImmediately: true })
      auth.forgetProject(projectId)
      assert.deepInclude(yield* Fiber.join(reading), { projectId })
      assert.isUndefined(auth.remembered(inside, "inference"))
    }).pipe(Effect.scoped)
  )

  it.live("does not remember a key that the database returned before a change and `forget`", () =>
    Effect.gen(function* () {
      const { account, inference, keys } = yield* scene
      const [read, told] = [Latch.makeUnsafe(false), Latch.makeUnsafe(false)]
      // The database answers before the change, and its answer arrives after it.
      const slow = Keys.of({
        ...keys,
        findByHash: (hash) => Effect.tap(keys.findByHash(hash), () => Effect.andThen(read.open, told.await))
      })
      const auth = yield* Effect.provide(Auth, Auth.layer.pipe(Layer.provide(Layer.succeed(Keys, slow))))
      const header = `Bearer ${inference.key}`
      const reading = yield* Effect.forkChild(auth.authenticate(header, "inference"), { startImmediately: true })
      yield* read.await
      const doing = { accountId: account.id, id: inference.id, actor }
      yield* keys.update({ ...doing, change: { routing: { data_policy: "zero_retention" } } })
      auth.forget(inference.id)
      yield* told.open
      yield* Fiber.join(reading)
      assert.isUndefined(auth.remembered(header, "inference"))
    }).pipe(Effect.scoped)
  )

  it.live("remembers a key for 30 seconds, even when the machine's clock is set back", () =>
    Effect.gen(function* () {
      const { auth, inference } = yield* scene
      const header = `Bearer ${inference.key}`
      const [wall, since] = [Date.now, performance.now.bind(performance)]
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
      yield* auth.authenticate(header, "inference")
      vi.spyOn(Date, "now").mockImplementation(() => wall() - 3_600_000)
      assert.isDefined(auth.remembered(header, "inference"))
      vi.spyOn(performance, "now").mockImplementation(() => since() + 31_000)
      assert.isUndefined(auth.remembered(header, "inference"))
    }).pipe(Effect.scoped)
  )

  it.live("confirms a key by its id, and forgets a revoked one", () =>
    Effect.gen(function* () {
      const { auth, inference, keys, url } = yield* scene
      const header = `Bearer ${inference.key}`
      yield* auth.authenticate(header, "inference")
      yield* auth.confirm(inference.id)
      assert.isDefined(auth.remembered(header, "inference"))
      yield* keys.revoke(inference.id, actor)
      const refused = (id: string) => Effect.map(Effect.flip(auth.confirm(id)), ({ reason }) => reason._tag)
      assert.strictEqual(yield* refused(inference.id), "InvalidApiKey")
      assert.isUndefined(auth.remembered(header, "inference"))
      assert.strictEqual(yield* refused("none"), "InvalidApiKey")
      yield* takeAway(url)
      assert.strictEqual(yield* refused(inference.id), "StoreUnavailable")
      yield* giveBack(url)
    }).pipe(Effect.scoped)
  )

  it.live("reports that the store is unavailable, not that the key is invalid, while the database is down", () =>
    Effect.gen(function* () {
      const { auth, inference, reasonOf, url } = yield* scene
      const header = `Bearer ${inference.key}`
      yield* takeAway(url)
      assert.strictEqual(yield* reasonOf(header), "StoreUnavailable")
      yield* giveBack(url)
      assert.strictEqual((yield* whenBack(auth.authenticate(header, "inference"))).keyId, inference.id)
    }).pipe(Effect.scoped)
  )
})
