import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import {
  isDenied,
  isMissing,
  isTransientProblem,
  makeSender,
  makeSigner,
  unavailable
} from "../../../src/platform/files/S3Bucket.ts"
import { Outbound } from "../../../src/platform/outbound/Outbound.ts"
import { bucket, startS3With } from "../../support/S3.ts"

const OTHER = "other-test"

const scene = Effect.gen(function* () {
  const s3 = yield* startS3With([OTHER])
  const outbound = yield* Outbound
  const sender = (name: string, accessKeyId = bucket.accessKeyId) =>
    makeSender(
      makeSigner({
        endpoint: new URL(s3.origin),
        bucket: name,
        region: bucket.region,
        accessKeyId,
        secretAccessKey: Redacted.make(bucket.secret),
        pathStyle: true
      }),
      outbound
    )
  return { s3, sender }
})

layer(Outbound.layer, { excludeTestServices: true })("S3Bucket", (it) => {
  it.effect("sends to the bucket in its settings only, and returns at most the requested number of bytes", () =>
    Effect.gen(function* () {
      const { s3, sender } = yield* scene
      const send = sender(OTHER)
      const body = new Uint8Array(3 * 1024 * 1024).fill(120)
      yield* send({ method: "PUT", path: "/a/b", headers: { "content-type": "text/plain" }, body })
      assert.deepStrictEqual([...s3.objectsOf(OTHER).keys()], ["a/b"])
      assert.strictEqual(s3.objects.size, 0)
      const answer = yield* send({ method: "GET", path: "/a/b", maxBodyBytes: body.length })
      assert.isTrue(Buffer.from(body).equals(answer.body))
      const before = s3.seen.length
      const tooLarge = yield* Effect.flip(send({ method: "GET", path: "/a/b" }))
      assert.strictEqual(tooLarge.message, "longer than 2097152 bytes")
      assert.isFalse(isTransientProblem(tooLarge))
      assert.strictEqual(s3.seen.length, before + 1)
    }).pipe(Effect.scoped)
  )

  it.effect("distinguishes a missing object, a wrong setting and an outage", () =>
    Effect.gen(function* () {
      const { s3, sender } = yield* scene
      const problemOf = (send: ReturnType<typeof sender>) =>
        Effect.map(Effect.flip(send({ method: "GET", path: "/a" })), (problem) => ({
          kinds: [isMissing(problem), isDenied(problem), isTransientProblem(problem)],
          cause: unavailable(problem).cause
        }))
      const [yes, no] = [true, false]
      assert.deepStrictEqual(yield* problemOf(sender(OTHER)), {
        kinds: [yes, no, no],
        cause: "the bucket answered 404 NoSuchKey"
      })
      assert.deepStrictEqual(yield* problemOf(sender("missing-test")), {
        kinds: [no, yes, no],
        cause: "the bucket answered 404 NoSuchBucket"
      })
      assert.deepStrictEqual(yield* problemOf(sender(OTHER, "AKIDOTHER")), {
        kinds: [no, yes, no],
        cause: "the bucket answered 403 InvalidAccessKeyId"
      })
      s3.faults.push(503, 503, 503)
      assert.deepStrictEqual(yield* problemOf(sender(OTHER)), {
        kinds: [no, no, yes],
        cause: "the bucket answered 503 SlowDown"
      })
      assert.deepStrictEqual(s3.faults, [])
    }).pipe(Effect.scoped)
  )
})
