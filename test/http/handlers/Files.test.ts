/** Pictures and clips over the public port of a whole service. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { dispositionOf, rangeOf } from "../../../src/http/handlers/Files.ts"
import { newFileId } from "../../../src/platform/Ids.ts"
import type { NewFile, StoredFile } from "../../../src/platform/files/Media.ts"
import { giveBack, takeAway } from "../../support/Outage.ts"
import { bucket, startS3 } from "../../support/S3.ts"
import { startService } from "../../support/Service.ts"
import { assertCommonHeaders, assertEnvelope } from "../envelope.ts"
import { client } from "../wire.ts"

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

/** A service, a picture of ten digits in it, and how to ask for it. */
const started = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const service = yield* startService(env)
    const send = yield* client(service.origin)
    const { account } = yield* service.account()
    const store = (file: Partial<NewFile> = {}) =>
      service.media.store({
        bytes: bytesOf("0123456789"),
        contentType: "image/png",
        accountId: account.id,
        purpose: "image",
        ...file
      })
    const file = yield* store()
    const ask = (headers: Record<string, string> = {}, method = "GET", id = file.id) =>
      send({ path: `/files/${id}`, method, headers })
    return { service, send, store, file, ask }
  })

describe("rangeOf", () => {
  it("returns the range that a Range header with one range asks for", () => {
    const all: ReadonlyArray<readonly [string | undefined, ReturnType<typeof rangeOf>]> = [
      [undefined, "all"],
      ["bytes=0-", { start: 0, end: 10 }],
      ["bytes=2-4", { start: 2, end: 5 }],
      ["BYTES=9-9", { start: 9, end: 10 }],
      ["bytes=5-999", { start: 5, end: 10 }],
      ["bytes=-3", { start: 7, end: 10 }],
      ["bytes=-99", { start: 0, end: 10 }],
      ["bytes=-0", "none"],
      ["bytes=10-", "none"],
      ["bytes=10-12", "none"],
      ["bytes=99999999999999999999-", "none"],
      ["bytes=4-2", "all"],
      ["bytes=0-1,3-4", "all"],
      ["bytes=-", "all"],
      ["bytes=a-b", "all"],
      ["items=0-1", "all"]
    ]
    for (const [header, range] of all) assert.deepStrictEqual(rangeOf(header, 10), range, header)
    for (const header of ["bytes=0-", "bytes=-1", "bytes=0-0"]) assert.strictEqual(rangeOf(header, 0), "none", header)
  })
})

describe("dispositionOf", () => {
  it("produces a valid header for every file name", () => {
    const file: StoredFile = {
      id: "file_1",
      accountId: "a",
      purpose: "image",
      bytes: 1,
      contentType: "image/png",
      name: undefined,
      createdAt: new Date(0),
      expiresAt: undefined
    }
    assert.strictEqual(dispositionOf(file), 'inline; filename="file_1.png"')
    assert.strictEqual(dispositionOf({ ...file, contentType: "a/b" }), 'inline; filename="file_1"')
    assert.strictEqual(dispositionOf({ ...file, name: "my cat.png" }), 'inline; filename="my cat.png"')
    assert.strictEqual(
      dispositionOf({ ...file, name: 'a"\r\nb;é(1)\ud800.png' }),
      `inline; filename="a___b;_(1)_.png"; filename*=UTF-8''a%22%0D%0Ab%3B%C3%A9%281%29%EF%BF%BD.png`
    )
  })
})

describe("GET of a file's URL", () => {
  it.live("returns the file to any client, cacheable for good, and prevents its use as a page", () =>
    Effect.gen(function* () {
      const { ask, file, service } = yield* started()
      assert.strictEqual(
        service.media.urlOf(file.id),
        `${service.origin.replace("127.0.0.1", "localhost")}/files/${file.id}`
      )
      const got = yield* ask()
      assert.deepStrictEqual([got.status, got.text], [200, "0123456789"])
      assertCommonHeaders(got.headers, "a file")
      assert.deepInclude(got.headers, {
        "content-type": "image/png",
        "content-length": "10",
        "accept-ranges": "bytes",
        etag: `"${file.id}"`,
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox",
        "content-disposition": `inline; filename="${file.id}.png"`,
        "cross-origin-resource-policy": "cross-origin",
        "access-control-allow-origin": "*"
      })
      const head = yield* ask({}, "HEAD")
      assert.deepStrictEqual([head.status, head.text], [200, ""])
      assert.deepInclude(head.headers, { "content-length": "10", "content-type": "image/png", etag: `"${file.id}"` })
    }).pipe(Effect.scoped)
  )

  it.live("returns a range, and 416 for a range outside the file", () =>
    Effect.gen(function* () {
      const { ask, file } = yield* started()
      const part = yield* ask({ range: "bytes=2-4" })
      assert.deepStrictEqual([part.status, part.text, part.headers["content-range"]], [206, "234", "bytes 2-4/10"])
      assert.deepInclude(part.headers, {
        "content-length": "3",
        etag: `"${file.id}"`,
        "x-content-type-options": "nosniff"
      })
      const end = yield* ask({ range: "bytes=-4" })
      assert.deepStrictEqual([end.status, end.text, end.headers["content-range"]], [206, "6789", "bytes 6-9/10"])
      const none = yield* ask({ range: "bytes=10-" })
      assert.deepStrictEqual([none.status, none.text, none.headers["content-range"]], [416, "", "bytes */10"])
      assert.isUndefined(none.headers["cache-control"])
      const begun = yield* ask({ range: "bytes=2-4", "if-range": `"${file.id}"` })
      assert.deepStrictEqual([begun.status, begun.text], [206, "234"])
      const other = yield* ask({ range: "bytes=2-4", "if-range": '"another"' })
      assert.deepStrictEqual([other.status, other.text], [200, "0123456789"])
      const head = yield* ask({ range: "bytes=2-4" }, "HEAD")
      assert.deepStrictEqual([head.status, head.headers["content-length"]], [200, "10"])
    }).pipe(Effect.scoped)
  )

  it.live("returns 304 to a client with the current file", () =>
    Effect.gen(function* () {
      const { ask, file } = yield* started()
      for (const said of [`"${file.id}"`, `W/"${file.id}"`, `"another", "${file.id}"`, "*"]) {
        const got = yield* ask({ "if-none-match": said, range: "bytes=0-1" })
        assert.deepStrictEqual([got.status, got.text, got.headers["etag"]], [304, "", `"${file.id}"`], said)
      }
      assert.strictEqual((yield* ask({ "if-none-match": '"another"' })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("returns 404 for expired, removed, unknown and batch files", () =>
    Effect.gen(function* () {
      const { ask, service, store } = yield* started()
      const passed = new Date(Date.now() - 1_000)
      const removed = yield* store()
      yield* service.media.remove(removed.accountId, removed.id)
      const lost = yield* store()
      rmSync(join(service.dataDirectory, "files", lost.id))
      const ids = {
        expired: (yield* store({ expiresAt: passed })).id,
        removed: removed.id,
        lost: lost.id,
        unknown: newFileId(),
        input: (yield* store({ purpose: "batch_input" })).id,
        output: (yield* store({ purpose: "batch_output" })).id,
        escaped: "..%2F..%2Ftollgate.pid",
        nothing: "x"
      }
      for (const [name, id] of Object.entries(ids)) {
        const got = yield* ask({}, "GET", id)
        assert.strictEqual(got.status, 404, name)
        assert.strictEqual(assertEnvelope(got, name).error.code, "not_found")
        assert.isUndefined(got.headers["cache-control"], name)
        assert.strictEqual((yield* ask({}, "HEAD", id)).status, 404, name)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is read-only and allows any origin", () =>
    Effect.gen(function* () {
      const { ask } = yield* started()
      for (const method of ["POST", "PUT", "DELETE"]) {
        const got = yield* ask({}, method)
        assert.deepStrictEqual([got.status, got.headers["allow"]], [405, "GET, HEAD"], method)
        assertEnvelope(got, method)
      }
      const preflight = yield* ask(
        { origin: "https://page.example", "access-control-request-method": "GET" },
        "OPTIONS"
      )
      assert.deepStrictEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [204, "*"])
    }).pipe(Effect.scoped)
  )

  it.live("returns a large video completely to many clients at once", () =>
    Effect.gen(function* () {
      const { ask, store } = yield* started()
      const text = "tollgate".repeat(1_000_000)
      const clip = yield* store({ bytes: bytesOf(text), contentType: "video/mp4", purpose: "video" })
      const got = yield* Effect.all(
        [1, 2, 3, 4].map(() => ask({}, "GET", clip.id)),
        { concurrency: 4 }
      )
      for (const { headers, status, text: read } of got) {
        assert.deepStrictEqual([status, headers["content-type"]], [200, "video/mp4"])
        assert.isTrue(read === text)
      }
    }).pipe(Effect.scoped)
  )

  it.live("counts requests by client address, separately from other requests", () =>
    Effect.gen(function* () {
      const { ask, send } = yield* started({ RATE_LIMIT_SCALE: "0.02" })
      for (let count = 1; count <= 12; count++) {
        const got = yield* ask(count % 2 === 0 ? {} : { range: "bytes=0-1" })
        assert.include([200, 206], got.status, `request ${count}`)
        const { "x-ratelimit-limit": limit, "x-ratelimit-remaining": left, ratelimit = "" } = got.headers
        assert.deepStrictEqual([limit, left, ratelimit.split(";")[0]], ["12", String(12 - count), '"files"'])
      }
      const refused = yield* ask()
      assert.deepStrictEqual([refused.status, refused.headers["x-ratelimit-limit"]], [429, "12"])
      assert.strictEqual(assertEnvelope(refused, "one too many").error.code, "rate_limit_exceeded")
      assert.isDefined(refused.headers["retry-after"])
      assert.strictEqual((yield* send({ path: "/api/v1/models", method: "GET" })).status, 200)
    }).pipe(Effect.scoped)
  )

  it.live("returns 503 while the database is down", () =>
    Effect.gen(function* () {
      const { ask, service } = yield* started()
      yield* takeAway(service.databaseUrl)
      const got = yield* Effect.ensuring(ask(), Effect.orDie(giveBack(service.databaseUrl)))
      assert.strictEqual(got.status, 503)
      assert.strictEqual(assertEnvelope(got, "away").error.code, "store_unavailable")
    }).pipe(Effect.scoped)
  )
})

describe("a file in a bucket", () => {
  it.live("is served like a file in the data directory, with 503 while the bucket is down", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const { ask, file, service } = yield* started({
        S3_ENDPOINT: s3.origin,
        S3_BUCKET: bucket.name,
        S3_REGION: bucket.region,
        S3_ACCESS_KEY_ID: bucket.accessKeyId,
        S3_SECRET_ACCESS_KEY: bucket.secret
      })
      assert.deepStrictEqual([...s3.objects.keys()], [`files/${file.id}`])
      const [whole, part] = [yield* ask(), yield* ask({ range: "bytes=2-4" })]
      assert.deepStrictEqual([whole.status, whole.text], [200, "0123456789"])
      assert.deepStrictEqual([part.status, part.text, part.headers["content-range"]], [206, "234", "bytes 2-4/10"])
      s3.faults.push(503, 503, 503)
      const away = yield* ask()
      assert.strictEqual(away.status, 503)
      assert.strictEqual(assertEnvelope(away, "away").error.code, "store_unavailable")
      s3.faults.push("truncate")
      const cut = yield* Effect.exit(ask())
      // A part must not look whole: the connection breaks.
      assert.isTrue(cut._tag === "Failure")
      yield* service.media.remove(file.accountId, file.id)
      assert.strictEqual(s3.objects.size, 0)
      assert.strictEqual((yield* ask()).status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("is downloaded only as fast as the client reads, and stops when the client disconnects", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const { service, store } = yield* started({
        S3_ENDPOINT: s3.origin,
        S3_BUCKET: bucket.name,
        S3_REGION: bucket.region,
        S3_ACCESS_KEY_ID: bucket.accessKeyId,
        S3_SECRET_ACCESS_KEY: bucket.secret
      })
      // More than all sockets between can hold.
      const clip = yield* store({ bytes: new Uint8Array(64 * 1024 * 1024), contentType: "video/mp4", purpose: "video" })
      const leave = new AbortController()
      const response = yield* Effect.promise(() =>
        fetch(`${service.origin}/files/${clip.id}`, { signal: leave.signal })
      )
      const reader = response.body!.getReader()
      assert.isAbove((yield* Effect.promise(() => reader.read())).value?.length ?? 0, 0)
      assert.strictEqual(s3.answering(), 1)
      leave.abort()
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => s3.answering() === 0, times: 1_000 })
      assert.strictEqual(s3.answering(), 0)
    }).pipe(Effect.scoped)
  )
})
