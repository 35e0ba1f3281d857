import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { bucket, startS3With } from "../support/S3.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { commandWith } from "./commandLine.ts"
import { exportScene } from "./exportScene.ts"

const DAY = "2026-01-31"

const ARCHIVE = "archive-test"

const MANIFEST = `tollgate/receipts-${DAY}.manifest.json`

interface Event {
  readonly type: string
  readonly actor: { readonly id: string }
  readonly resource: { readonly type: string; readonly id: string }
  readonly changes: Record<string, unknown>
}

/** A day with two receipts, and commands with the settings of a file store. */
const scene = Effect.gen(function* () {
  const shared = yield* exportScene
  const ids = [
    yield* shared.moved(yield* shared.ask(), `${DAY}T01:00:00Z`),
    yield* shared.moved(yield* shared.ask("gpt-4o"), `${DAY}T02:00:00Z`)
  ]
  const s3 = yield* startS3With([ARCHIVE])
  const data = yield* temporaryDirectory
  const base: Record<string, string> = { DATABASE_URL: shared.url, LOG_FORMAT: "json", DATA_DIR: data }
  const settings = {
    ...base,
    S3_ENDPOINT: s3.origin,
    S3_BUCKET: bucket.name,
    S3_REGION: bucket.region,
    S3_ACCESS_KEY_ID: bucket.accessKeyId,
    S3_SECRET_ACCESS_KEY: bucket.secret
  }
  const exportTo = (to: string, env: Record<string, string> = settings) =>
    commandWith(env, `export receipts --day ${DAY} --to ${to} --json`)
  const toArchive = exportTo(`s3://${ARCHIVE}/tollgate`)
  const done = Effect.map(toArchive, ({ code, stderr, stdout }) => {
    assert.deepStrictEqual([code, stderr], [0, []])
    return JSON.parse(stdout[0]!)
  })
  /** The events, oldest first. */
  const events = Effect.map(shared.json("audit --operators"), ({ data: rows }): ReadonlyArray<Event> =>
    rows.toReversed()
  )
  const types = Effect.map(events, (rows) => rows.map(({ type }) => type))
  const staging = join(data, "exports")
  const stagedFiles = () => readdirSync(staging)
  const puts = () => s3.seen.filter((line) => line.startsWith("PUT")).length
  return {
    ...shared,
    ids,
    s3,
    base,
    settings,
    exportTo,
    toArchive,
    done,
    events,
    types,
    staging,
    stagedFiles,
    puts,
    objects: s3.objectsOf(ARCHIVE)
  }
})

describe("export receipts to a bucket", () => {
  it.live("uploads a day completely with its manifest last, records it, and uploads nothing when repeated", () =>
    Effect.gen(function* () {
      const { done, events, ids, objects, puts, s3, stagedFiles } = yield* scene
      const manifest = yield* done
      const stored = objects.get(MANIFEST)!
      assert.deepStrictEqual(JSON.parse(Buffer.from(stored.bytes).toString()), manifest)
      assert.isTrue(s3.seen.at(-1)!.endsWith(MANIFEST))
      assert.deepInclude(manifest, { day: DAY, receipts: 2 })
      const body = Buffer.concat(manifest.parts.map(({ key }: { key: string }) => objects.get(key)!.bytes))
      assert.strictEqual(createHash("sha256").update(body).digest("hex"), manifest.sha256)
      const lines = body.toString().trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.map((line) => JSON.parse(line).id),
        ids
      )
      const { parts, ...facts } = manifest
      const to = `s3://${ARCHIVE}/tollgate`
      assert.deepStrictEqual(
        (yield* events).map(({ actor, changes, resource, type }) => [type, actor.id, resource.id, changes]),
        [
          ["receipts.export_started", "command-line", DAY, { to, ...facts }],
          ["receipts.exported", "command-line", DAY, { to, ...facts, parts: parts.length }]
        ]
      )
      assert.deepStrictEqual(stagedFiles(), [])

      s3.seen.length = 0
      assert.deepStrictEqual(yield* done, manifest)
      assert.strictEqual(puts(), 0)
      assert.strictEqual((yield* events).length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("resumes an interrupted upload, and uploads no part twice", () =>
    Effect.gen(function* () {
      const { done, objects, puts, s3, stagedFiles, toArchive, types } = yield* scene
      // Requests pass for the manifest, the part and its upload; the upload of the manifest fails.
      s3.faults.push("pass", "pass", "pass", 500, 500, 500)
      const cut = yield* toArchive
      assert.deepStrictEqual([cut.code, objects.has(MANIFEST), objects.size], [1, false, 1])
      assert.include(cut.stderr.join(), "cannot reach the file store")
      assert.deepStrictEqual(yield* types, ["receipts.export_started"])
      assert.strictEqual(stagedFiles().length, 2)
      s3.seen.length = 0
      const manifest = yield* done
      assert.strictEqual(puts(), 1)
      assert.isTrue(objects.has(manifest.parts[0].key))
      assert.deepStrictEqual(yield* types, ["receipts.export_started", "receipts.export_started", "receipts.exported"])
    }).pipe(Effect.scoped)
  )

  it.live("records an export whose run ended between the manifest and the event", () =>
    Effect.gen(function* () {
      const { done, puts, query, s3, toArchive, types } = yield* scene
      yield* query(`CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.type = 'receipts.exported' THEN RAISE EXCEPTION 'cut off'; END IF; RETURN NEW; END $$`)
      yield* query("CREATE TRIGGER cut BEFORE INSERT ON operator_event FOR EACH ROW EXECUTE FUNCTION cut()")
      assert.strictEqual((yield* toArchive).code, 1)
      assert.deepStrictEqual(yield* types, ["receipts.export_started"])
      yield* query("DROP TRIGGER cut ON operator_event")
      s3.seen.length = 0
      yield* done
      yield* done
      assert.strictEqual(puts(), 0)
      assert.deepStrictEqual(yield* types, ["receipts.export_started", "receipts.exported"])
    }).pipe(Effect.scoped)
  )

  it.live("collects the day again when the file of an earlier run has changed or a refund came later", () =>
    Effect.gen(function* () {
      const { done, ids, json, objects, s3, staging, toArchive } = yield* scene
      const cutOff = Effect.gen(function* () {
        s3.faults.push("pass", "pass", 500, 500, 500)
        assert.strictEqual((yield* toArchive).code, 1)
      })
      const file = join(staging, `receipts-${DAY}.jsonl`)
      yield* cutOff
      const whole = readFileSync(file, "utf8")
      // The amounts are unchanged, so only the digest shows the change.
      writeFileSync(file, whole.replaceAll("gpt-4o-mini", "gpt-4o-tiny"))
      yield* cutOff
      assert.strictEqual(readFileSync(file, "utf8"), whole)

      yield* json(`refund ${ids[1]} --reason goodwill`)
      const manifest = yield* done
      assert.isAbove(Number(manifest.refunded_nano_usd), 0)
      const body = Buffer.from(objects.get(manifest.parts[0].key)!.bytes).toString()
      assert.notStrictEqual(body, whole)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a day whose objects have changed until its manifest is removed, then replaces them", () =>
    Effect.gen(function* () {
      const { done, objects, toArchive } = yield* scene
      const [{ key }] = (yield* done).parts
      const { bytes, contentType } = objects.get(key)!
      objects.set(key, { bytes: Uint8Array.from(bytes, () => 120), contentType })
      const refused = yield* toArchive
      assert.deepStrictEqual(
        [refused.code, refused.stderr],
        [1, [`error: ${MANIFEST} or an object that it names has changed; remove the manifest to export the day again.`]]
      )
      objects.delete(MANIFEST)
      yield* done
      assert.deepStrictEqual(objects.get(key)!.bytes, bytes)
    }).pipe(Effect.scoped)
  )

  it.live("states in one sentence which setting or flag is missing or wrong", () =>
    Effect.gen(function* () {
      const { base, exportTo, settings, staging, types } = yield* scene
      const to = `s3://${ARCHIVE}/tollgate`
      const { S3_SECRET_ACCESS_KEY: _, ...incomplete } = settings
      const wrong = { ...settings, S3_ACCESS_KEY_ID: "AKIDOTHER" }
      const said = Effect.fnUntraced(function* (text: string, env: Record<string, string>) {
        const { code, stderr, stdout } = yield* exportTo(text, env)
        assert.deepStrictEqual([code, stdout, stderr.length], [1, [], 1], stderr.join("\n"))
        return stderr[0]!
      })
      assert.strictEqual(
        yield* said(to, base),
        `error: \`--to\` must be a directory unless S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are set; got ${to}.`
      )
      assert.include(yield* said(to, incomplete), "S3_SECRET_ACCESS_KEY")
      for (const url of ["s3://", "s3://archive-test/../media-test", "https://archive-test/tollgate"])
        assert.strictEqual(
          yield* said(url, settings),
          `error: \`--to\` must be a directory or s3://bucket/prefix; got ${url}.`
        )
      const must = "error: `--to` must name a bucket that S3_ACCESS_KEY_ID may read and write"
      assert.strictEqual(
        yield* said("s3://missing-test", settings),
        `${must}; for missing-test the bucket answered 404 NoSuchBucket.`
      )
      assert.strictEqual(yield* said(to, wrong), `${must}; for ${ARCHIVE} the bucket answered 403 InvalidAccessKeyId.`)
      assert.deepStrictEqual([existsSync(staging), yield* types], [false, []])
    }).pipe(Effect.scoped)
  )
})
