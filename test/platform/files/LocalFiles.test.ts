/** Files in a real directory, and its failures. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FileStore } from "../../../src/platform/files/FileStore.ts"
import { newFileId } from "../../../src/platform/Ids.ts"
import { localFiles } from "../../../src/platform/files/LocalFiles.ts"

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

const place = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-files-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const made = Effect.gen(function* () {
  const directory = join(yield* place, "files")
  return { directory, store: yield* localFiles(directory) }
})

const read = (store: FileStore, id: string, start: number, end: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const body = yield* store.open(id, { start, end })
      if (body === undefined) return undefined
      const pieces: Array<Uint8Array> = []
      for (let piece = yield* body; piece !== undefined; piece = yield* body) pieces.push(piece)
      assert.isUndefined(yield* body)
      return Buffer.concat(pieces).toString()
    })
  )

describe("LocalFiles", () => {
  it.live("stores, returns in ranges and removes files", () =>
    Effect.gen(function* () {
      const { directory, store } = yield* made
      const id = newFileId()
      assert.isUndefined(yield* read(store, id, 0, 3))
      yield* store.put(id, bytesOf("0123456789"), "image/png")
      assert.deepStrictEqual(readdirSync(directory), [id])
      assert.strictEqual(yield* read(store, id, 0, 10), "0123456789")
      assert.strictEqual(yield* read(store, id, 4, 6), "45")
      assert.strictEqual(yield* read(store, id, 10, 10), "")
      yield* store.remove(id)
      yield* store.remove(id)
      assert.deepStrictEqual(readdirSync(directory), [])
    }).pipe(Effect.scoped)
  )

  it.live("returns a long file in chunks, up to its end even after it was removed", () =>
    Effect.gen(function* () {
      const { store } = yield* made
      const id = newFileId()
      const text = "tollgate".repeat(200_000)
      yield* store.put(id, bytesOf(text), "video/mp4")
      const body = (yield* store.open(id, { start: 8, end: text.length }))!
      const first = (yield* body)!
      assert.isBelow(first.length, 1_000_000)
      yield* store.remove(id)
      let length = first.length
      for (let piece = yield* body; piece !== undefined; piece = yield* body) length += piece.length
      assert.strictEqual(length, text.length - 8)
    }).pipe(Effect.scoped)
  )

  it.live("never returns an incomplete file, and removes leftover parts", () =>
    Effect.gen(function* () {
      const { directory, store } = yield* made
      const [id, short] = [newFileId(), newFileId()]
      writeFileSync(join(directory, `${id}.part`), "half")
      assert.isUndefined(yield* read(store, id, 0, 4))
      assert.deepStrictEqual(yield* store.idsAfter(""), [id])
      yield* store.remove(id)
      assert.isFalse(existsSync(join(directory, `${id}.part`)))
      yield* store.put(short, bytesOf("0123456789"), "image/png")
      truncateSync(join(directory, short), 5)
      const error = yield* Effect.flip(read(store, short, 0, 10))
      assert.deepInclude(error, { store: "file store", cause: "read: a file is shorter than its record says" })
    }).pipe(Effect.scoped)
  )

  it.live("follows no link, and accepts only file ids", () =>
    Effect.gen(function* () {
      const { directory, store } = yield* made
      const [id, secret] = [newFileId(), join(directory, "..", "secret")]
      writeFileSync(secret, "secret")
      symlinkSync(secret, join(directory, id))
      assert.match(String((yield* Effect.flip(read(store, id, 0, 6))).cause), /^open: ELOOP$/)
      for (const name of ["../secret", secret, ".", "", `${id}/../../secret`]) {
        assert.strictEqual((yield* Effect.flip(read(store, name, 0, 6))).cause, "open: failed", name)
      }
    }).pipe(Effect.scoped)
  )

  it.live("lists its ids in order after a given one, and ignores other files in the directory", () =>
    Effect.gen(function* () {
      const { directory, store } = yield* made
      const ids = [newFileId(), newFileId(), newFileId()].toSorted()
      for (const id of ids.toReversed()) yield* store.put(id, bytesOf("x"), "image/png")
      writeFileSync(join(directory, "notes.txt"), "an operator's")
      assert.deepStrictEqual(yield* store.idsAfter(""), ids)
      assert.deepStrictEqual(yield* store.idsAfter(ids[0]!), ids.slice(1))
    }).pipe(Effect.scoped)
  )

  it.live("lists ids in pages and in order, whatever the directory's order", () =>
    Effect.gen(function* () {
      const { directory, store } = yield* made
      const ids = Array.from({ length: 20_100 }, newFileId).toSorted()
      for (const id of ids.toReversed()) closeSync(openSync(join(directory, id), "w"))
      // A part counts as one with its file.
      for (const id of ids.slice(0, 50)) closeSync(openSync(join(directory, `${id}.part`), "w"))
      const first = yield* store.idsAfter("")
      assert.deepStrictEqual(first, ids.slice(0, 10_000))
      assert.deepStrictEqual(yield* store.idsAfter(first.at(-1)!), ids.slice(10_000, 20_000))
      assert.deepStrictEqual(yield* store.idsAfter(ids[19_999]!), ids.slice(20_000))
      assert.deepStrictEqual(yield* store.idsAfter(ids.at(-1)!), [])
    }).pipe(Effect.scoped)
  )

  it.live("reports a failure without the path", () =>
    Effect.gen(function* () {
      const { directory, store } = yield* made
      rmSync(directory, { recursive: true })
      const error = yield* Effect.flip(store.put(newFileId(), bytesOf("x"), "image/png"))
      assert.deepInclude(error, { store: "file store", cause: "write: ENOENT" })
      const file = join(yield* place, "file")
      writeFileSync(file, "")
      const refused = yield* Effect.flip(localFiles(join(file, "files")))
      assert.match(refused.message, /^DATA_DIR must be writable: .*files cannot be created \(ENOTDIR\)$/)
    }).pipe(Effect.scoped)
  )
})
