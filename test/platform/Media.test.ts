/** Files on a real directory and a real database. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { insertAccount } from "../../src/account/AccountsSql.ts"
import { Config } from "../../src/platform/Config.ts"
import { DataDirectory } from "../../src/platform/DataDirectory.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { Media } from "../../src/platform/Media.ts"
import { PublicUrl } from "../../src/platform/PublicUrl.ts"
import * as Database from "../support/Database.ts"

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
  Layer.provideMerge(Layer.mergeAll(Database.layer, directory)),
  Layer.provide(Config.layerFrom({ PUBLIC_URL: "https://gate.example/base/", FILE_RETENTION: "2 hours" }))
)

const newAccount = Effect.gen(function* () {
  const id = newResourceId()
  yield* insertAccount(yield* SqlClient.SqlClient, id, `${id}@example.com`)
  return id
})

const bytesOf = (text: string) => new TextEncoder().encode(text)

const held = Effect.map(DataDirectory, ({ path }) => join(path, "files"))

layer(rooms, { excludeTestServices: true })("Media", (it) => {
  describe("a file", () => {
    it.effect("is read as it was stored, by whoever has its id, and found by its owner alone", () =>
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

    it.effect("has a whole copy in the directory and no part left beside it", () =>
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

    it.effect("is gone for all once it is removed, with its bytes", () =>
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

    it.effect("is never one outside the directory, whatever is asked for", () =>
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
})
