import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Redacted } from "effect"
import {
  duration,
  flag,
  host,
  parseUrl,
  port,
  read,
  readOr,
  secret,
  secretUrl,
  type StartError,
  wholeNumber,
  words
} from "../../src/platform/Variables.ts"

/** Reads in an environment in which NAME has this text. */
const where =
  (text: string | undefined) =>
  <A>(reading: Effect.Effect<A, StartError>): Effect.Effect<A, StartError> =>
    Effect.provideService(
      reading,
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: text === undefined ? {} : { NAME: text } })
    )

const number = wholeNumber(2, 10)

describe("a variable", () => {
  it.effect("is absent when it is empty, and read without the spaces around it", () =>
    Effect.gen(function* () {
      for (const text of [undefined, "", "  "]) {
        assert.isUndefined(yield* where(text)(read("NAME", "a number", number)))
        assert.strictEqual(yield* where(text)(readOr("NAME", 7, "a number", number)), 7)
      }
      assert.strictEqual(yield* where(" 5 ")(readOr("NAME", 7, "a number", number)), 5)
    })
  )

  it.effect("that is wrong is named, with what it may be and without its text", () =>
    Effect.gen(function* () {
      const wrong = yield* Effect.flip(where("s3cret")(read("NAME", "a number", number)))
      assert.strictEqual(wrong.message, "NAME must be a number")
      const readings = [
        ["65536", port("NAME", 1)],
        ["a/b", host("NAME", "h")],
        ["0 seconds", duration("NAME", "1 second")],
        ["two words", secret("NAME")],
        ["http://h", secretUrl("NAME", "a URL", ["redis:"])],
        ["c", words("NAME", "a", ["a", "b"])],
        ["2", flag("NAME")]
      ] as const
      for (const [text, reading] of readings) {
        const { message } = yield* Effect.flip(where(text)(reading as Effect.Effect<unknown, StartError>))
        assert.match(message, /^NAME must be /)
        assert.notInclude(message, `"${text}"`)
      }
    })
  )

  it.effect("is what it says", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* where("0")(port("NAME", 1)), 0)
      assert.strictEqual(yield* where("::1")(host("NAME", "h")), "::1")
      assert.strictEqual(Duration.toMillis(yield* where("2 minutes")(duration("NAME", "1 second"))), 120_000)
      assert.strictEqual(yield* where("B")(words("NAME", "a", ["a", "b"])), "b")
      assert.isTrue(yield* where("true")(flag("NAME")))
      assert.isTrue(yield* where(undefined)(flag("NAME", true)))
      const hidden = yield* where("s3cret")(secret("NAME"))
      assert.deepStrictEqual([String(hidden), Redacted.value(hidden!)], ["<redacted>", "s3cret"])
      const url = yield* where("redis://:s3cret@h")(secretUrl("NAME", "a URL", ["redis:"]))
      assert.notInclude(JSON.stringify(url), "s3cret")
    })
  )

  it.effect("of a length of time is of whole milliseconds, and no longer than a timer can wait", () =>
    Effect.gen(function* () {
      const millisOf = (text: string) => Effect.map(where(text)(duration("NAME", "1 second")), Duration.toMillis)
      assert.strictEqual(yield* millisOf("1.0005 seconds"), 1_001)
      const longest = yield* millisOf("24 days")
      const struck = yield* Effect.callback<boolean>((resume) => {
        const timer = setTimeout(() => resume(Effect.succeed(true)), longest)
        setTimeout(
          () =>
            resume(
              Effect.as(
                Effect.sync(() => clearTimeout(timer)),
                false
              )
            ),
          50
        )
      })
      assert.isFalse(struck)
      assert.include((yield* Effect.flip(millisOf("25 days"))).message, "at most 24 days")
    })
  )

  it("of a URL needs one of its protocols, and a host", () => {
    const parse = parseUrl(["smtp:", "http:"])
    assert.strictEqual(parse("smtp://h:1")?.host, "h:1")
    for (const text of ["h:1", "https://h", "smtp://", ""]) assert.isUndefined(parse(text), text)
  })
})
