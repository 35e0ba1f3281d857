import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { FILE_MAX_BYTES, textOfFile } from "../../src/dialects/TextFiles.ts"

const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString("base64")
const read = (url: string, filename?: string) => textOfFile(url, filename, "at")

const reasonOf = (url: string) => {
  const text = read(url)
  return Result.isFailure(text) ? text.failure.reason : undefined
}

const problemOf = (url: string) => {
  const reason = reasonOf(url)
  return reason?._tag === "ValidationError" ? reason.problems[0] : undefined
}

describe("a text file", () => {
  it("becomes its text after a line with its name", () => {
    const url = `data:text/plain;base64,${base64("Grüße\n日本")}`
    assert.strictEqual(Result.getOrThrow(read(url, "notes.txt")), "notes.txt\nGrüße\n日本")
    assert.strictEqual(Result.getOrThrow(read(url)), "Grüße\n日本")
    assert.strictEqual(Result.getOrThrow(read(url, " two\r\nlines ")), "two lines\nGrüße\n日本")
  })

  it("must have a text type or JSON, in UTF-8", () => {
    const heads = ["text/markdown", "TEXT/CSV", "application/json", "text/plain;charset=UTF-8", 'text/x;charset="utf8"']
    for (const head of heads) assert.strictEqual(Result.getOrThrow(read(`data:${head};base64,aGk=`)), "hi", head)
    for (const head of ["application/zip", "", "image/png", "text/plain;charset=utf-16"]) {
      assert.deepInclude(reasonOf(`data:${head};base64,aGk=`), { _tag: "UnsupportedParameter", param: "at" }, head)
    }
  })

  it("is rejected when it is not a base64 data URL of UTF-8 text", () => {
    const long = `data:text/plain;${"x".repeat(300)};base64,aGk=`
    for (const url of ["", "aGk=", "data:text/plain,hi", "https://example.com/a.txt", "file-abc", long]) {
      assert.deepInclude(problemOf(url), { field: "at", message: "must be a data URL with a base64-encoded file" }, url)
    }
    for (const data of ["aGk", "a-_=", "aGk= ", "====", base64(Uint8Array.of(0xc3, 0x28))]) {
      const problem = problemOf(`data:text/plain;base64,${data}`)
      assert.deepStrictEqual(problem, { field: "at", message: "must be base64 of UTF-8 text" }, data)
    }
  })

  it("may have at most 20 MiB", () => {
    const ofSize = (bytes: number) => `data:text/plain;base64,${base64(Buffer.alloc(bytes, "a"))}`
    assert.strictEqual(Result.getOrThrow(read(ofSize(FILE_MAX_BYTES))).length, FILE_MAX_BYTES)
    assert.strictEqual(problemOf(ofSize(FILE_MAX_BYTES + 1))?.message, "must be a file of at most 20 MiB")
  })
})
