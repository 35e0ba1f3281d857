import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, type Scope } from "effect"
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { isUrl, targetOf, receiptsBucket } from "../../src/admin/ReceiptsBucket.ts"
import { namesOf, ReceiptsFile } from "../../src/admin/ReceiptsFile.ts"
import { Outbound } from "../../src/platform/outbound/Outbound.ts"
import { bucket, startS3With } from "../support/S3.ts"
import { temporaryDirectory } from "../support/Directories.ts"

const DAY = "2026-01-31"

const ARCHIVE = "archive-test"

const digestOf = (body: Uint8Array) => createHash("sha256").update(body).digest("hex")

/** A finished file of five receipts, and a bucket that stores two of them per part. */
const scene = Effect.gen(function* () {
  const s3 = yield* startS3With([ARCHIVE])
  const directory = yield* temporaryDirectory
  const written = yield* Effect.promise(() => ReceiptsFile.open(directory, DAY))
  written.append(["a", "b", "c", "d", "e"].map((id) => ({ id, settled_nano_usd: "10", refunded_nano_usd: "0" })))
  const { file: _, ...facts } = yield* Effect.promise(() => written.finish(DAY))
  written.close()
  const { file } = namesOf(directory, DAY)
  const settings = {
    endpoint: new URL(s3.origin),
    bucket: bucket.name,
    region: bucket.region,
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: Redacted.make(bucket.secret),
    pathStyle: true
  }
  const lineBytes = facts.bytes / 5
  const target = (name: string) =>
    Effect.map(Outbound, (outbound) =>
      receiptsBucket(settings, { bucket: name, prefix: "books/" }, DAY, outbound, lineBytes * 2 + 1)
    )
  const puts = () => s3.seen.filter((line) => line.startsWith("PUT")).map((line) => line.split("/").at(-1)!)
  return { s3, objects: s3.objectsOf(ARCHIVE), file, facts, target, puts, export: yield* target(ARCHIVE) }
})

const run = <A, E>(body: Effect.Effect<A, E, Outbound | Scope.Scope>) =>
  body.pipe(Effect.scoped, Effect.provide(Outbound.layer))

describe("receipts in a bucket", () => {
  it.live("arrive in parts of complete lines, with their digests in a manifest that is uploaded last", () =>
    run(
      Effect.gen(function* () {
        const { export: target, facts, file, objects, puts, s3 } = yield* scene
        const manifest = yield* target.upload(file, facts)
        assert.strictEqual(manifest.parts.length, 3)
        assert.strictEqual(puts().at(-1), `receipts-${DAY}.manifest.json`)
        assert.strictEqual(puts().length, 4)
        const bodies = manifest.parts.map(({ key }) => objects.get(key)!.bytes)
        assert.deepStrictEqual(
          manifest.parts.map(({ bytes, sha256 }) => [bytes, sha256]),
          bodies.map((body) => [body.length, digestOf(body)])
        )
        for (const body of bodies) assert.strictEqual(body.at(-1), 10)
        assert.deepStrictEqual(Buffer.concat(bodies), readFileSync(file))
        assert.strictEqual(manifest.sha256, digestOf(Buffer.concat(bodies)))
        const stored = objects.get(`books/receipts-${DAY}.manifest.json`)!
        assert.deepStrictEqual(JSON.parse(Buffer.from(stored.bytes).toString()), manifest)
        assert.deepStrictEqual(yield* target.finished, manifest)
        assert.strictEqual(s3.objects.size, 0)
      })
    )
  )

  it.live("resume an interrupted upload, and replace a part that differs", () =>
    run(
      Effect.gen(function* () {
        const { export: target, facts, file, objects, puts, s3 } = yield* scene
        s3.faults.push("pass", "pass", "pass", 500, 500, 500)
        const error = yield* Effect.flip(target.upload(file, facts))
        assert.strictEqual(error._tag, "Unavailable")
        const [first = ""] = objects.keys()
        assert.strictEqual(objects.size, 1)
        assert.isUndefined(yield* target.finished)

        s3.seen.length = 0
        const manifest = yield* target.upload(file, facts)
        assert.deepStrictEqual(
          puts(),
          [...manifest.parts.slice(1).map(({ key }) => key), target.manifestKey].map((key) => key.split("/")[1]!)
        )
        const { bytes, contentType } = objects.get(first)!
        // The length is the same, so only the bytes show the change.
        objects.set(first, { bytes: Uint8Array.from(bytes, () => 120), contentType })
        s3.seen.length = 0
        yield* target.upload(file, facts)
        assert.deepStrictEqual(puts(), [first.split("/")[1]!, `receipts-${DAY}.manifest.json`])
        assert.deepStrictEqual(objects.get(first)!.bytes, bytes)
      })
    )
  )

  it.live("count as changed when a part is missing or differs, or the manifest is invalid", () =>
    run(
      Effect.gen(function* () {
        const { export: target, facts, file, objects } = yield* scene
        const { parts } = yield* target.upload(file, facts)
        const { key } = parts[1]!
        const whole = objects.get(key)!
        const manifest = objects.get(target.manifestKey)!
        const edited = (change: object) =>
          Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(manifest.bytes).toString()), ...change }))
        for (const bytes of [Uint8Array.from(whole.bytes, () => 120), whole.bytes.subarray(1), undefined]) {
          if (bytes === undefined) objects.delete(key)
          else objects.set(key, { ...whole, bytes })
          assert.strictEqual(yield* target.finished, "changed")
        }
        objects.set(key, whole)
        const wrong = [
          Buffer.from("{"),
          Buffer.from("{}"),
          edited({ parts: parts.slice(1) }),
          edited({ day: "2026-02-01" })
        ]
        for (const bytes of wrong) {
          objects.set(target.manifestKey, { ...manifest, bytes })
          assert.strictEqual(yield* target.finished, "changed")
        }
        objects.set(target.manifestKey, manifest)
        assert.isObject(yield* target.finished)
      })
    )
  )

  it.live("get no manifest when the file differs from its own digest", () =>
    run(
      Effect.gen(function* () {
        const { export: target, facts, file, objects } = yield* scene
        writeFileSync(file, readFileSync(file, "utf8").replace('"e"', '"f"'))
        const error = yield* Effect.flip(target.upload(file, facts))
        assert.strictEqual(error.message, `${file} changed during the export. Run it again`)
        assert.isFalse(objects.has(target.manifestKey))
      })
    )
  )
})

describe("the URL of a bucket", () => {
  it("is read with and without a prefix", () => {
    assert.deepStrictEqual(targetOf("s3://receipts"), { bucket: "receipts", prefix: "" })
    assert.deepStrictEqual(targetOf("s3://receipts/"), { bucket: "receipts", prefix: "" })
    assert.deepStrictEqual(targetOf("s3://receipts/a/b"), { bucket: "receipts", prefix: "a/b/" })
    assert.deepStrictEqual(targetOf("s3://receipts/a/b/"), { bucket: "receipts", prefix: "a/b/" })
  })

  it("is rejected when it has another form or leads out of the bucket", () => {
    for (const text of ["s3://", "s3:receipts", "S3://receipts", "https://receipts/a", "s3://receipts?x=1"]) {
      assert.isTrue(isUrl(text), text)
      assert.isUndefined(targetOf(text), text)
    }
    for (const text of ["s3://receipts/../other", "s3://receipts/a/./b", "s3://receipts//a", "s3://receipts/a b"])
      assert.isUndefined(targetOf(text), text)
    for (const text of ["/exports", "exports/s3", "./s3:x"]) assert.isFalse(isUrl(text), text)
  })
})
