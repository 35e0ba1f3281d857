import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Config } from "../../src/platform/config/Config.ts"
import { DataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { Secrets } from "../../src/platform/Secrets.ts"

const KEY = "a-key-for-tests-that-has-32-characters-and-more"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-secrets-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** The service of a start with these settings. */
const started = (path: string, env: Record<string, string> = {}) =>
  Effect.map(Secrets, (secrets) => secrets).pipe(
    Effect.provide(
      Layer.fresh(Secrets.layer).pipe(
        Layer.provide(Layer.succeed(DataDirectory, { path })),
        Layer.provide(Config.layerFrom(env))
      )
    )
  )

const secret = Redacted.make("whsec_a secret with ä€😀")

const opened = (secrets: Secrets["Service"], sealed: Uint8Array, purpose = "p") => {
  const found = secrets.open(sealed, purpose)
  return found === undefined ? undefined : Redacted.value(found)
}

describe("Secrets", () => {
  it.live("recognize a text by a keyed digest", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const [one, same] = [yield* started(path), yield* started(path)]
      const other = yield* started(path, { SECRETS_KEY: KEY })
      assert.lengthOf(one.digest("123456", "p"), 32)
      assert.deepStrictEqual(one.digest("123456", "p"), same.digest("123456", "p"))
      const others = [one.digest("123457", "p"), one.digest("123456", "q"), other.digest("123456", "p")]
      const joined = [one.digest("a b", "p"), one.digest("b", "p a")]
      for (const digest of others) assert.notDeepEqual(digest, one.digest("123456", "p"))
      assert.notDeepEqual(joined[0], joined[1])
    }).pipe(Effect.scoped)
  )

  it.live("open what they sealed, only for the same purpose and unchanged", () =>
    Effect.gen(function* () {
      const secrets = yield* started(yield* directory)
      const sealed = secrets.seal(secret, "p")
      assert.strictEqual(opened(secrets, sealed), Redacted.value(secret))
      assert.isUndefined(opened(secrets, sealed, "q"))
      assert.isUndefined(opened(secrets, sealed.subarray(0, 20)))
      assert.isUndefined(opened(secrets, new Uint8Array()))
      for (let at = 0; at < sealed.length; at++) {
        const changed = Uint8Array.from(sealed, (byte, index) => (index === at ? byte ^ 1 : byte))
        assert.isUndefined(opened(secrets, changed), String(at))
      }
      assert.notDeepEqual(secrets.seal(secret, "p"), sealed)
      assert.isFalse(Buffer.from(sealed).includes("whsec_"))
    }).pipe(Effect.scoped)
  )

  it.live("are the same on every start with one directory, whichever process starts first", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const all = yield* Effect.all(
        Array.from({ length: 5 }, () => started(path)),
        { concurrency: 5 }
      )
      const sealed = all[0]!.seal(secret, "p")
      for (const one of all) assert.strictEqual(opened(one, sealed), Redacted.value(secret))
      assert.lengthOf(new Set(all.map(({ keyId }) => keyId)), 1)
      const file = join(path, "secrets.key")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.notInclude(readFileSync(file, "utf8"), all[0]!.keyId)
    }).pipe(Effect.scoped)
  )

  it.live("are derived from SECRETS_KEY on every node that has it", () =>
    Effect.gen(function* () {
      const [here, there] = [yield* directory, yield* directory]
      const [first, second] = [yield* started(here, { SECRETS_KEY: KEY }), yield* started(there, { SECRETS_KEY: KEY })]
      const other = yield* started(there)
      assert.strictEqual(opened(second, first.seal(secret, "p")), Redacted.value(secret))
      assert.strictEqual(first.keyId, second.keyId)
      assert.notStrictEqual(other.keyId, first.keyId)
      assert.isUndefined(opened(other, first.seal(secret, "p")))
    }).pipe(Effect.scoped)
  )

  it.live("stop the start when their key is unusable", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const why = (env: Record<string, string>) =>
        Effect.map(Effect.exit(started(path, env)), (exit) => (Exit.isFailure(exit) ? String(exit.cause) : "started"))
      assert.include(yield* why({ SECRETS_KEY: "short" }), "SECRETS_KEY must be")
      assert.notInclude(yield* why({ SECRETS_KEY: "short" }), "short")
      writeFileSync(join(path, "secrets.key"), "")
      chmodSync(join(path, "secrets.key"), 0o600)
      assert.include(yield* why({}), "has no usable secrets.key")
    }).pipe(Effect.scoped)
  )
})
