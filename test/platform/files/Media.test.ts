/** Files in a real directory, with a real database. */
import { assert, describe, it as alone, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { insertAccount } from "../../../src/account/AccountsSql.ts"
import { Config } from "../../../src/platform/config/Config.ts"
import { DataDirectory } from "../../../src/platform/database/DataDirectory.ts"
import { newFileId, newResourceId } from "../../../src/platform/Ids.ts"
import { Media } from "../../../src/platform/files/Media.ts"
import { insertFileWithin } from "../../../src/platform/files/MediaSql.ts"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { PublicUrl } from "../../../src/platform/outbound/PublicUrl.ts"
import { bucket, startS3 } from "../../support/S3.ts"
import type { Unavailable } from "../../../src/platform/database/Sql.ts"
import { until } from "../../support/Until.ts"
import * as Database from "../../support/Database.ts"

const directory = Layer.effect(
  DataDirectory,
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-media-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    ),
    (path) => ({ path })
  )
)

const rooms = Media.layer.pipe(
  Layer.provideMerge(PublicUrl.layer),
  Layer.provideMerge(Layer.mergeAll(Database.layer, directory, Outbound.layer)),
  Layer.provide(Config.layerFrom({ PUBLIC_URL: "https://gate.example/base/", FILE_RETENTION: "2 hours" }))
)

/** Files in a bucket, with this many connections for everything except downloads. */
const overBucket = (origin: string, connections: number) =>
  Media.layer.pipe(
    Layer.provideMerge(PublicUrl.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        Database.layer,
        directory,
        Outbound.layerWith({ connectionsPerOrigin: connections, keepAliveMs: 30_000 })
      )
    ),
    Layer.provide(
      Config.layerFrom({
        S3_ENDPOINT: origin,
        S3_BUCKET: bucket.name,
        S3_REGION: bucket.region,
        S3_ACCESS_KEY_ID: bucket.accessKeyId,
        S3_SECRET_ACCESS_KEY: bucket.secret
      })
    )
  )

const newAccount = Effect.gen(function* () {
  const id = newResourceId()
  yield* insertAccount(yield* SqlClient.SqlClient, id, `${id}@example.com`)
  return id
})

/** Sweeps until nothing is left, and returns the number of swept files. */
const swept: Effect.Effect<number, Unavailable, Media> = Effect.flatMap(
  Effect.flatMap(Media, (media) => media.sweep),
  (count) => (count === 0 ? Effect.succeed(0) : Effect.map(swept, (more) => count + more))
)

const bytesOf = (text: string) => new TextEncoder().encode(text)

const empty = { bytes: new Uint8Array(), contentType: "text/plain" }

const held = Effect.map(DataDirectory, ({ path }) => join(path, "files"))

layer(rooms, { excludeTestServices: true })("Media", (it) => {
  describe("a file", () => {
    it.effect("is readable by its id, and found only by its account", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const [mine, other] = [yield* newAccount, yield* newAccount]
        const input = {
          bytes: bytesOf("picture"),
          contentType: "image/png",
          accountId: mine,
          purpose: "image"
        } as const
        const file = yield* media.store({ ...input, name: "a.png" })
        assert.match(file.id, /^file_[0-9a-f]{44}$/)
        assert.deepInclude(file, { bytes: 7, contentType: "image/png", name: "a.png", purpose: "image" })
        const read = yield* media.read(file.id)
        assert.strictEqual(Buffer.from(read!.bytes).toString(), "picture")
        assert.deepStrictEqual(read!.file, file)
        assert.deepStrictEqual(yield* media.find(mine, file.id), file)
        assert.isUndefined(yield* media.find(other, file.id))
        assert.isFalse(yield* media.remove(other, file.id))
        assert.strictEqual(media.urlOf(file.id), `https://gate.example/base/files/${file.id}`)
      })
    )

    it.effect("is complete in the directory, without leftover parts", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const accountId = yield* newAccount
        const file = yield* media.store({
          bytes: bytesOf("x"),
          contentType: "image/png",
          accountId,
          purpose: "image"
        })
        const names = readdirSync(yield* held).filter((name) => name.startsWith(file.id))
        assert.deepStrictEqual(names, [file.id])
      })
    )

    it.effect("is gone for every reader once it is removed, together with its bytes", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const accountId = yield* newAccount
        const file = yield* media.store({
          bytes: bytesOf("x"),
          contentType: "text/plain",
          accountId,
          purpose: "batch_input"
        })
        assert.isUndefined(file.expiresAt)
        assert.isTrue(yield* media.remove(accountId, file.id))
        assert.isFalse(yield* media.remove(accountId, file.id))
        assert.isUndefined(yield* media.read(file.id))
        assert.isFalse(existsSync(join(yield* held, file.id)))
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`SELECT 1 FROM file WHERE id = ${file.id}`, [])
      })
    )

    it.effect("is never read from outside the directory, whatever the id", () =>
      Effect.gen(function* () {
        const media = yield* Media
        writeFileSync(join(yield* held, "..", "secret"), "secret")
        for (const id of ["../secret", "..", "", "file_../../secret", `file_${"0".repeat(43)}/`, `/etc/passwd`]) {
          assert.isUndefined(yield* media.read(id), id)
          assert.isUndefined(yield* media.look(id), id)
        }
      })
    )
  })

  describe("files", () => {
    it.effect("are listed newest first, by purpose, in pages, per account", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const [accountId, other] = [yield* newAccount, yield* newAccount]
        const ids: Array<string> = []
        for (const purpose of ["batch_input", "batch_output", "batch_input", "batch_input"] as const) {
          ids.push((yield* media.store({ ...empty, accountId, purpose })).id)
        }
        yield* media.store({ ...empty, accountId: other, purpose: "batch_input" })
        const newest = ids.toSorted().toReversed()
        const first = yield* media.list(accountId, { limit: 3 })
        assert.deepStrictEqual(
          first.files.map(({ id }) => id),
          newest.slice(0, 3)
        )
        assert.strictEqual(first.next, newest[2])
        const rest = yield* media.list(accountId, { limit: 3, cursor: first.next! })
        assert.deepStrictEqual([rest.files.map(({ id }) => id), rest.next], [newest.slice(3), null])
        const oldest = yield* media.list(accountId, { limit: 1, order: "asc" })
        assert.deepStrictEqual([oldest.files.map(({ id }) => id), oldest.next], [[newest[3]], newest[3]])
        const later = yield* media.list(accountId, { limit: 3, order: "asc", cursor: newest[3]! })
        assert.deepStrictEqual([later.files.map(({ id }) => id), later.next], [newest.slice(0, 3).toReversed(), null])
        const outputs = yield* media.list(accountId, { purposes: ["batch_output"], limit: 3 })
        assert.deepStrictEqual([outputs.files.map(({ id }) => id), outputs.next], [[ids[1]], null])
      })
    )

    it.effect("stay within the quota of their account and purpose, however many are stored in parallel", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const sql = yield* SqlClient.SqlClient
        const [accountId, other] = [yield* newAccount, yield* newAccount]
        const input = { ...empty, accountId, purpose: "batch_input" } as const
        const quota = { files: 5, bytes: 10 }
        yield* media.store({ ...input, purpose: "batch_output", bytes: bytesOf("0123456789") })
        const many = Array.from({ length: 12 }, () => media.storeWithin(input, quota))
        const stored = (yield* Effect.all(many, { concurrency: 12 })).filter((file) => file !== undefined)
        assert.lengthOf(stored, 5)
        assert.lengthOf((yield* media.list(accountId, { purposes: ["batch_input"], limit: 20 })).files, 5)
        assert.isDefined(yield* media.storeWithin({ ...input, accountId: other }, quota))
        assert.isTrue(yield* media.remove(accountId, stored[0]!.id))
        const [half, rest] = [bytesOf("012345"), bytesOf("6789")]
        const passed = new Date(Date.now() - 1_000)
        assert.isDefined(yield* media.storeWithin({ ...input, bytes: half, expiresAt: passed }, quota))
        assert.isDefined(yield* media.storeWithin({ ...input, bytes: half }, quota), "an expired file does not count")
        const more = { ...quota, files: 9 }
        assert.isUndefined(yield* media.storeWithin({ ...input, bytes: half }, more))
        assert.isDefined(yield* media.storeWithin({ ...input, bytes: rest }, more))
        assert.isUndefined(yield* media.storeWithin({ ...input, bytes: bytesOf("x") }, more))
        yield* sql`UPDATE file SET state = 'storing' WHERE account_id = ${accountId}`
        assert.isUndefined(
          yield* media.storeWithin({ ...input, bytes: bytesOf("x") }, more),
          "an upload in progress counts"
        )
        yield* sql`DELETE FROM file WHERE account_id = ${accountId}`
      })
    )

    it.effect("that could not be stored use no quota, and are swept", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const sql = yield* SqlClient.SqlClient
        const accountId = yield* newAccount
        const directory = yield* held
        const input = { ...empty, accountId, purpose: "batch_input" } as const
        const storing = media.storeWithin(input, { files: 2, bytes: 100 })
        const failing = Effect.flip(storing)
        const away = Effect.acquireRelease(
          Effect.sync(() => renameSync(directory, `${directory}-away`)),
          () => Effect.sync(() => renameSync(`${directory}-away`, directory))
        )
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* away
            for (let tries = 0; tries < 3; tries++) assert.strictEqual((yield* failing)._tag, "Unavailable")
          })
        )
        assert.isDefined(yield* storing)
        assert.lengthOf((yield* media.list(accountId, { limit: 10 })).files, 1)
        yield* sql`UPDATE file SET state_at = now() - interval '6 minutes' WHERE account_id = ${accountId}`
        assert.strictEqual(yield* swept, 3)
        yield* sql`DELETE FROM file WHERE account_id = ${accountId}`
      })
    )

    it.effect("wait for another upload of their account that may fill the quota", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const sql = yield* SqlClient.SqlClient
        const accountId = yield* newAccount
        const [quota, inserted, ending] = [{ files: 1, bytes: 9 }, yield* Deferred.make(), yield* Deferred.make()]
        const row = { id: newFileId(), account_id: accountId, purpose: "batch_input", content_type: "a/b" } as const
        const first = yield* insertFileWithin(sql, { ...row, name: null, bytes: 1n, expires_at: null }, quota).pipe(
          Effect.tap(() => Effect.andThen(Deferred.succeed(inserted, undefined), Deferred.await(ending))),
          sql.withTransaction,
          Effect.forkChild
        )
        yield* Deferred.await(inserted)
        const input = { ...empty, accountId, purpose: "batch_input" } as const
        const second = yield* Effect.forkChild(media.storeWithin(input, quota))
        const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        yield* until(
          "the second upload waits",
          Effect.map(waiting, ({ length }) => length === 1),
          "10 seconds"
        )
        yield* Deferred.succeed(ending, undefined)
        assert.isTrue(yield* Fiber.join(first))
        assert.isUndefined(yield* Fiber.join(second))
        yield* sql`DELETE FROM file WHERE account_id = ${accountId}`
      })
    )

    it.effect("of images expire by default, others on request, and are swept with their bytes", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const sql = yield* SqlClient.SqlClient
        const accountId = yield* newAccount
        const picture = yield* media.store({ ...empty, accountId, purpose: "image" })
        const hours = (picture.expiresAt!.getTime() - picture.createdAt.getTime()) / 3_600_000
        assert.approximately(hours, 2, 0.1)
        const passed = new Date(Date.now() - 1_000)
        const gone = yield* media.store({ ...empty, accountId, purpose: "batch_output", expiresAt: passed })
        const kept = yield* media.store({ ...empty, accountId, purpose: "batch_output" })
        assert.isUndefined(kept.expiresAt)
        assert.isUndefined(yield* media.look(gone.id))
        assert.isUndefined(yield* media.read(gone.id))
        assert.isFalse(yield* media.remove(accountId, gone.id))
        const { files } = yield* media.list(accountId, { limit: 10 })
        assert.sameMembers(
          files.map(({ id }) => id),
          [picture.id, kept.id]
        )
        assert.strictEqual(yield* swept, 1)
        assert.isFalse(existsSync(join(yield* held, gone.id)))
        assert.deepStrictEqual(yield* sql`SELECT 1 FROM file WHERE id = ${gone.id}`, [])
        assert.isDefined(yield* media.look(picture.id))
      })
    )

    it.effect("that a dead process left half stored or half removed are swept, and running uploads are not", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const sql = yield* SqlClient.SqlClient
        const accountId = yield* newAccount
        const left = (state: string, minutes: number, suffix = "") =>
          Effect.gen(function* () {
            const id = newFileId()
            yield* sql`INSERT INTO file (id, account_id, purpose, state, state_at, content_type, bytes)
              VALUES (${id}, ${accountId}, 'image', ${state}, now() - ${minutes}::int * interval '1 minute', 'a/b', 1)`
            writeFileSync(join(yield* held, id + suffix), "x")
            assert.isUndefined(yield* media.look(id))
            return id
          })
        const stored = yield* left("storing", 61, ".part")
        const named = yield* left("storing", 61)
        const removed = yield* left("removing", 6)
        const storing = yield* left("storing", 50, ".part")
        const removing = yield* left("removing", 1)
        assert.strictEqual(yield* swept, 3)
        const names = readdirSync(yield* held).join()
        for (const id of [stored, named, removed]) assert.notInclude(names, id)
        assert.include(names, `${storing}.part`)
        assert.include(names, removing)
        yield* sql`DELETE FROM file WHERE account_id = ${accountId}`
      })
    )

    it.effect("without a database row are swept after a day", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const accountId = yield* newAccount
        const idOf = (days: number) => {
          const time = (Date.now() - days * 86_400_000).toString(16).padStart(12, "0")
          return `file_${time}${newFileId().slice(17)}`
        }
        const [old, older, recent] = [idOf(1.01), idOf(400), idOf(0.99)]
        const directory = yield* held
        for (const id of [old, older, recent]) writeFileSync(join(directory, id), "x")
        const known = yield* media.store({ ...empty, accountId, purpose: "batch_input" })
        assert.strictEqual(yield* media.sweepStrays, 2)
        assert.strictEqual(yield* media.sweepStrays, 0)
        const names = readdirSync(directory)
        assert.includeMembers(names, [recent, known.id])
        assert.notIncludeMembers(names, [old])
        assert.notIncludeMembers(names, [older])
      })
    )

    it.effect("are stored, read and swept concurrently without losing a valid file", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const accountId = yield* newAccount
        const passed = new Date(Date.now() - 1_000)
        const storing = Effect.forEach(
          Array.from({ length: 60 }, (_, index) => index),
          (index) =>
            media.store({
              accountId,
              purpose: "image",
              contentType: "image/png",
              bytes: bytesOf(String(index)),
              ...(index % 2 === 0 ? { expiresAt: passed } : {})
            }),
          { concurrency: 8 }
        )
        const [files, ...counts] = yield* Effect.all([storing, swept, swept, swept], { concurrency: 4 })
        const removed = counts.reduce((sum, count) => sum + count, yield* swept)
        assert.strictEqual(removed, 30)
        for (const [index, file] of files.entries()) {
          const read = yield* media.read(file.id)
          assert.strictEqual(read && Buffer.from(read.bytes).toString(), index % 2 === 0 ? undefined : String(index))
          assert.strictEqual(existsSync(join(yield* held, file.id)), index % 2 === 1)
        }
      })
    )

    it.effect("whose bytes are lost count as missing", () =>
      Effect.gen(function* () {
        const media = yield* Media
        const file = yield* media.store({ ...empty, accountId: yield* newAccount, purpose: "image" })
        rmSync(join(yield* held, file.id))
        assert.isUndefined(yield* media.read(file.id))
      })
    )
  })
})

alone.live("slow readers do not keep other clients from storing and reading files", () =>
  Effect.gen(function* () {
    const s3 = yield* startS3
    yield* Effect.gen(function* () {
      const media = yield* Media
      const about = { contentType: "image/png", accountId: yield* newAccount, purpose: "image" } as const
      // Larger than all socket buffers together.
      const large = yield* media.store({ ...about, bytes: new Uint8Array(32 * 1024 * 1024) })
      for (let reader = 0; reader < 3; reader++) {
        const body = yield* media.open(large)
        assert.isDefined(yield* body!)
      }
      assert.strictEqual(s3.answering(), 3)
      const small = yield* media.store({ ...about, bytes: bytesOf("small") })
      assert.strictEqual(Buffer.from((yield* media.read(small.id))!.bytes).toString(), "small")
    }).pipe(Effect.scoped, Effect.provide(overBucket(s3.origin, 1)))
  }).pipe(Effect.scoped)
)
