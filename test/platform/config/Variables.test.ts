import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  duration,
  flag,
  host,
  parseUrl,
  port,
  read,
  secret,
  secretUrl,
  type Setting,
  setting,
  wholeNumber,
  words
} from "../../../src/platform/config/Variables.ts"

/** Reads a setting with this text in the variable NAME. */
const where =
  (text: string | undefined) =>
  <A, D>(one: Setting<A, D>) =>
    Effect.provideService(
      read("NAME", one),
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: text === undefined ? {} : { NAME: text } })
    )

const parts = { allowed: "a number", parse: wholeNumber(2, 10), meaning: "" }

describe("a variable", () => {
  it.effect("counts as absent when it is empty, and is trimmed", () =>
    Effect.gen(function* () {
      for (const text of [undefined, "", "  "]) {
        assert.isUndefined(yield* where(text)(setting(parts)))
        assert.strictEqual(yield* where(text)(setting({ ...parts, fallback: "7" })), 7)
        assert.strictEqual(yield* where(text)(setting({ ...parts, absent: 12 })), 12)
      }
      assert.strictEqual(yield* where(" 5 ")(setting({ ...parts, fallback: "7" })), 5)
    })
  )

  it.effect("with an invalid value is named in the error, with the allowed values and without its text", () =>
    Effect.gen(function* () {
      const wrong = yield* Effect.flip(where("s3cret")(setting(parts)))
      assert.strictEqual(wrong.message, "NAME must be a number")
      const wrongTexts: ReadonlyArray<readonly [string, Setting<unknown, unknown>]> = [
        ["65536", port(1, "")],
        ["a/b", host("h", "")],
        ["0 seconds", duration("1 second", "")],
        ["two words", secret("")],
        ["http://h", secretUrl("a URL", ["redis:"], "")],
        ["c", words("a", ["a", "b"], "")],
        ["2", flag("0", "")]
      ]
      for (const [text, one] of wrongTexts) {
        const { message } = yield* Effect.flip(where(text)(one))
        assert.match(message, /^NAME must be /)
        assert.notInclude(message, `"${text}"`)
      }
    })
  )

  it.effect("is parsed into the value of its text", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* where("0")(port(1, "")), 0)
      assert.strictEqual(yield* where("::1")(host("h", "")), "::1")
      assert.strictEqual(Duration.toMillis(yield* where("2 minutes")(duration("1 second", ""))), 120_000)
      assert.strictEqual(yield* where("B")(words("a", ["a", "b"], "")), "b")
      assert.isTrue(yield* where("true")(flag("0", "")))
      assert.isTrue(yield* where(undefined)(flag("1", "")))
      const hidden = yield* where("s3cret")(secret(""))
      assert.deepStrictEqual([String(hidden), Redacted.value(hidden!)], ["<redacted>", "s3cret"])
      const url = yield* where("redis://:s3cret@h")(secretUrl("a URL", ["redis:"], ""))
      assert.notInclude(JSON.stringify(url), "s3cret")
    })
  )

  it.effect("of a duration is rounded up to whole milliseconds, and limited to the longest wait of a timer", () =>
    Effect.gen(function* () {
      const millisOf = (text: string) => Effect.map(where(text)(duration("1 second", "")), Duration.toMillis)
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

  it("of a URL requires one of its protocols, and a host", () => {
    const parse = parseUrl(["smtp:", "http:"])
    assert.strictEqual(parse("smtp://h:1")?.host, "h:1")
    for (const text of ["h:1", "https://h", "smtp://", ""]) assert.isUndefined(parse(text), text)
  })
})

/** Reads a setting whose NAME_FILE names a file with this text, with further variables. */
const fromFile = <A, D>(content: string | undefined, one: Setting<A, D>, others: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-secret-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const file = join(directory, "s3cret")
    if (content !== undefined) writeFileSync(file, content)
    const env = { NAME_FILE: file, ...others }
    return yield* Effect.provideService(
      read("NAME", one),
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env })
    )
  }).pipe(Effect.scoped)

describe("a secret in a file", () => {
  it.effect("has the content of the file without the line break at its end", () =>
    Effect.gen(function* () {
      const found = yield* fromFile("s3cret\n", secret(""))
      assert.strictEqual(found && Redacted.value(found), "s3cret")
      const url = yield* fromFile("redis://:s3cret@h", secretUrl("a URL", ["redis:"], ""))
      assert.strictEqual(url && Redacted.value(url), "redis://:s3cret@h")
      assert.isUndefined(yield* fromFile(undefined, secret(""), { NAME_FILE: " " }))
    })
  )

  it.effect("fails with the name of the variable when the file is unusable, and repeats neither path nor content", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [string | undefined, Record<string, string>, string]> = [
        [undefined, {}, "NAME_FILE must be the path of a file that the service can read (ENOENT)"],
        [undefined, { NAME_FILE: "/" }, "NAME_FILE must be the path of a file that the service can read (EISDIR)"],
        ["\n", {}, "NAME_FILE must name a file with a value in it; the file is empty"],
        ["a s3cret", {}, "NAME_FILE must name a file with printable text without spaces"],
        ["s".repeat(65_537), {}, "NAME_FILE must name a file of at most 65536 bytes"],
        ["s3cret", { NAME: "s3cret" }, "NAME_FILE must not be set together with NAME"]
      ]
      for (const [content, others, expected] of wrong) {
        const { message } = yield* Effect.flip(fromFile(content, secret(""), others))
        assert.strictEqual(message, expected)
      }
    })
  )

  it.effect("is read for secret settings only", () =>
    Effect.map(fromFile("7", setting(parts)), (value) => assert.isUndefined(value))
  )
})
