/** A bucket over real sockets, on a server that computes every signature itself. */
import { assert, describe, it, layer } from "@effect/vitest"
import { AwsV4Signer } from "aws4fetch"
import { Effect, Redacted } from "effect"
import { createHash } from "node:crypto"
import type { S3Settings } from "../../../src/platform/config/Config.ts"
import type { FileStore } from "../../../src/platform/files/FileStore.ts"
import { newFileId } from "../../../src/platform/Ids.ts"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { s3Files } from "../../../src/platform/files/S3Files.ts"
import { bucket, signatureOf, startS3 } from "../../support/S3.ts"

const settings = (origin: string, more: Partial<S3Settings> = {}): S3Settings => ({
  endpoint: new URL(origin),
  bucket: bucket.name,
  region: bucket.region,
  accessKeyId: bucket.accessKeyId,
  secretAccessKey: Redacted.make(bucket.secret),
  pathStyle: true,
  ...more
})

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

/** The content of a file as text; undefined if there is no such file. */
const text = (store: FileStore, id: string, start: number, end: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const body = yield* store.open(id, { start, end })
      if (body === undefined) return undefined
      const pieces: Array<Uint8Array> = []
      for (let piece = yield* body; piece !== undefined; piece = yield* body) pieces.push(piece)
      return Buffer.concat(pieces).toString()
    })
  )

const causeOf = <A, R>(effect: Effect.Effect<A, { readonly cause?: unknown }, R>) =>
  Effect.map(Effect.flip(effect), ({ cause }) => String(cause))

/** The examples of Amazon's "Signature Calculations for the Authorization Header", for S3. */
const published = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  host: "examplebucket.s3.amazonaws.com",
  time: "20130524T000000Z",
  examples: [
    {
      method: "GET",
      target: "/test.txt",
      body: "",
      more: { range: "bytes=0-9" },
      signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    },
    {
      method: "PUT",
      target: "/test%24file.text",
      body: "Welcome to Amazon S3.",
      more: { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
    },
    {
      method: "GET",
      target: "/?lifecycle",
      body: "",
      more: {},
      signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
    },
    {
      method: "GET",
      target: "/?prefix=J&max-keys=2",
      body: "",
      more: {},
      signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    }
  ]
} as const

describe("the signatures of the test server", () => {
  for (const { body, method, more, signature, target } of published.examples) {
    const payloadHash = createHash("sha256").update(body).digest("hex")
    const headers = { ...more, "x-amz-content-sha256": payloadHash }

    it(`equal those that Amazon publishes: ${method} ${target}`, () => {
      const all = { ...headers, host: published.host, "x-amz-date": published.time }
      const made = signatureOf({
        method,
        target,
        headers: all,
        signedHeaders: Object.keys(all),
        payloadHash,
        region: "us-east-1",
        secret: published.secret
      })
      assert.strictEqual(made, signature)
    })

    it.effect(`equal those of the signing package: ${method} ${target}`, () =>
      Effect.gen(function* () {
        const signer = new AwsV4Signer({
          method,
          url: `https://${published.host}${target}`,
          headers,
          service: "s3",
          region: "us-east-1",
          accessKeyId: published.accessKeyId,
          secretAccessKey: published.secret,
          datetime: published.time,
          allHeaders: true
        })
        assert.strictEqual(yield* Effect.promise(() => signer.signature()), signature)
      })
    )
  }
})

layer(Outbound.layer, { excludeTestServices: true })("S3Files", (it) => {
  it.effect("stores, returns in ranges and removes files under `files/` in the bucket", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const store = s3Files(settings(s3.origin), yield* Outbound)
      const id = newFileId()
      assert.isUndefined(yield* text(store, id, 0, 10))
      yield* store.put(id, bytesOf("0123456789"), "image/png")
      assert.deepStrictEqual([...s3.objects.keys()], [`files/${id}`])
      assert.strictEqual(s3.objects.get(`files/${id}`)?.contentType, "image/png")
      assert.strictEqual(yield* text(store, id, 0, 10), "0123456789")
      assert.strictEqual(yield* text(store, id, 3, 6), "345")
      yield* store.remove(id)
      yield* store.remove(id)
      assert.strictEqual(s3.objects.size, 0)
      assert.isUndefined(yield* text(store, id, 0, 10))
      assert.isTrue(s3.seen.every((line) => line.split(" ")[2]!.startsWith(`/${bucket.name}/files/`)))
    }).pipe(Effect.scoped)
  )

  it.effect("stores an empty file and a large one unchanged", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const store = s3Files(settings(s3.origin), yield* Outbound)
      const [empty, large] = [newFileId(), newFileId()]
      yield* store.put(empty, bytesOf(""), "text/plain")
      assert.strictEqual(yield* text(store, empty, 0, 0), "")
      const bytes = bytesOf("tollgate".repeat(1_000_000))
      yield* store.put(large, bytes, "video/mp4")
      assert.strictEqual(yield* text(store, large, 0, bytes.length), "tollgate".repeat(1_000_000))
    }).pipe(Effect.scoped)
  )

  it.effect("puts the bucket into the host name on request", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const outbound = yield* Outbound
      // No such host exists: the connection goes to the test server, but the request is signed for the host.
      const redirected = <A extends { origin: string; headers: Readonly<Record<string, string>> }>(request: A): A => ({
        ...request,
        origin: s3.origin,
        headers: { ...request.headers, host: new URL(request.origin).host }
      })
      const store = s3Files(settings("http://s3.example:9000", { pathStyle: false }), {
        send: (request) => outbound.send(redirected(request)),
        open: (request) => outbound.open(redirected(request))
      })
      const id = newFileId()
      yield* store.put(id, bytesOf("pixels"), "image/png")
      assert.strictEqual(yield* text(store, id, 0, 6), "pixels")
      assert.deepStrictEqual(yield* store.idsAfter(""), [id])
      assert.deepStrictEqual(s3.seen.slice(0, 2), [
        `PUT ${bucket.name}.s3.example /files/${id}`,
        `GET ${bucket.name}.s3.example /files/${id}`
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("lists its ids in order, after a given one", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const store = s3Files(settings(s3.origin), yield* Outbound)
      const ids = [newFileId(), newFileId(), newFileId()].toSorted()
      for (const id of ids.toReversed()) yield* store.put(id, bytesOf("x"), "image/png")
      s3.objects.set("files/file_other", { bytes: bytesOf("x"), contentType: "" })
      s3.objects.set("elsewhere", { bytes: bytesOf("x"), contentType: "" })
      assert.deepStrictEqual(yield* store.idsAfter(""), ids)
      assert.deepStrictEqual(yield* store.idsAfter(ids[0]!), ids.slice(1))
      assert.deepStrictEqual(yield* store.idsAfter(ids[2]!), [])
    }).pipe(Effect.scoped)
  )

  it.effect("retries temporary failures at most twice", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const store = s3Files(settings(s3.origin), yield* Outbound)
      const id = newFileId()
      s3.faults.push(503, 500)
      yield* store.put(id, bytesOf("bytes"), "image/png")
      s3.faults.push(503)
      assert.strictEqual(yield* text(store, id, 0, 5), "bytes")
      s3.faults.push("drop")
      yield* store.remove(id)
      assert.strictEqual(s3.objects.size, 0)
      assert.strictEqual(s3.seen.length, 3 + 2 + 2)
      s3.faults.push(503, 503, 503, 503)
      assert.strictEqual(yield* causeOf(store.remove(id)), "the bucket answered 503 SlowDown")
      assert.strictEqual(s3.faults.length, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("reports a rejection without a secret or an id, and does not retry it", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const outbound = yield* Outbound
      const id = newFileId()
      const wrong = [
        [{ secretAccessKey: Redacted.make("another") }, "403 SignatureDoesNotMatch"],
        [{ accessKeyId: "AKIDOTHER" }, "403 InvalidAccessKeyId"],
        [{ region: "us-east-1" }, "403 AuthorizationHeaderMalformed"],
        [{ bucket: "another-bucket" }, "404 NoSuchBucket"]
      ] as const
      for (const [more, said] of wrong) {
        const store = s3Files(settings(s3.origin, more), outbound)
        const before = s3.seen.length
        assert.strictEqual(yield* causeOf(store.put(id, bytesOf("x"), "image/png")), `the bucket answered ${said}`)
        assert.strictEqual(yield* causeOf(text(store, id, 0, 1)), `the bucket answered ${said}`)
        assert.strictEqual(yield* causeOf(store.remove(id)), `the bucket answered ${said}`)
        assert.strictEqual(s3.seen.length, before + 3)
      }
      assert.strictEqual(s3.objects.size, 0)
    }).pipe(Effect.scoped)
  )

  it.effect("fails as unavailable when the store does not answer, or when a file is truncated or different", () =>
    Effect.gen(function* () {
      const s3 = yield* startS3
      const outbound = yield* Outbound
      const nowhere = s3Files(settings("http://127.0.0.1:1"), outbound)
      const id = newFileId()
      assert.strictEqual((yield* Effect.flip(nowhere.put(id, bytesOf("x"), "image/png"))).store, "file store")
      const store = s3Files(settings(s3.origin), outbound)
      yield* store.put(id, bytesOf("0123456789"), "image/png")
      assert.match(yield* causeOf(text(store, id, 0, 20)), /other bytes/)
      s3.faults.push("truncate")
      assert.match(yield* causeOf(text(store, id, 0, 10)), /^Broken/)
    }).pipe(Effect.scoped)
  )
})
