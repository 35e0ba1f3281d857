import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { checkPages, isPdf, pdfOfBase64, pdfOfUrl } from "../../src/dialects/Pdfs.ts"
import { FILE_MAX_BYTES } from "../../src/dialects/TextFiles.ts"
import { pdfAllowance } from "../../src/domain/PdfPages.ts"
import { deflated, pdfOf, pdfUrl, pdfWith } from "../support/Pdf.ts"

const problemOf = (encoded: string) => {
  const read = pdfOfBase64(encoded, { field: "at", allowance: pdfAllowance() })
  const reason = Result.isFailure(read) ? read.failure.reason : undefined
  return reason?._tag === "ValidationError" ? reason.problems[0] : undefined
}

const pages = (count: number) => pdfWith(Array.from({ length: count }, () => "x"))

describe("a PDF file in a request", () => {
  it("is recognized by the type of its data URL", () => {
    assert.isTrue(isPdf("data:application/pdf;base64,"))
    assert.isTrue(isPdf("data:APPLICATION/PDF;name=a.pdf;base64,"))
    for (const url of ["data:text/plain;base64,", "application/pdf", "data:application/pdf,x"])
      assert.isFalse(isPdf(url))
  })

  it("keeps its bytes, its name and its context", () => {
    const file = pages(1)
    const read = Result.getOrThrow(
      pdfOfUrl(pdfUrl(file), { field: "at", name: "a.pdf", context: "Why", allowance: pdfAllowance() })
    )
    assert.deepInclude(read, { data: file.toString("base64"), name: "a.pdf", context: "Why", pages: 1, field: "at" })
    const bare = Result.getOrThrow(
      pdfOfUrl(pdfUrl(file), { field: "at", name: null, context: "", allowance: pdfAllowance() })
    )
    assert.notProperty(bare, "name")
    assert.notProperty(bare, "context")
  })

  it("is rejected with the rule that it breaks", () => {
    const base64 = (file: Buffer) => file.toString("base64")
    const cases: ReadonlyArray<readonly [encoded: string, message: string]> = [
      [base64(Buffer.from("hello!")), "must be a PDF file; got a file that does not begin with %PDF-"],
      [base64(pdfOf({}, "/Encrypt 9 0 R")), "must be a PDF file without encryption; got an encrypted file"],
      [base64(pages(101)), "must be a PDF file of at most 100 pages; got more"],
      [
        base64(pdfOf({ 1: "<< /Pages 1 0 R /Kids [1 0 R] >>" })),
        "must be a PDF file whose pages can be counted; got a damaged file, or one of an unusual form"
      ],
      ["JVBERi0", "must be base64 of a PDF file"],
      ["JVBERi0-", "must be base64 of a PDF file"],
      ["A".repeat(FILE_MAX_BYTES * 1.5), "must be a file of at most 20 MiB"]
    ]
    for (const [encoded, message] of cases) assert.deepStrictEqual(problemOf(encoded), { field: "at", message })
  })

  it("shares its decompression allowance with the other files of its request", () => {
    const allowance = pdfAllowance()
    const large = pdfOf({
      1: "<< /Pages 2 0 R >>",
      2: "<< /Kids [3 0 R] >>",
      3: "<< /Contents 4 0 R >>",
      4: deflated("0 ".repeat(3_000_000))
    }).toString("base64")
    const read = () => Result.isSuccess(pdfOfBase64(large, { field: "at", allowance }))
    assert.deepStrictEqual([read(), read(), read(), read()], [true, true, false, false])
  })

  it("may have at most 100 pages together with the other files of its request", () => {
    const part = (count: number, field: string) =>
      Result.getOrThrow(pdfOfBase64(pages(count).toString("base64"), { field, allowance: pdfAllowance() }))
    const asked = (count: number) => [
      { role: "user", content: [part(60, "a")] } as const,
      { role: "tool", toolCallId: "c", content: [part(count, "b")] } as const
    ]
    assert.isUndefined(checkPages(asked(40)))
    assert.deepInclude(checkPages(asked(41))?.reason, {
      problems: [
        {
          field: "b",
          message: "must have at most 100 pages, together with the other PDF files of the request; got 101"
        }
      ]
    })
  })
})
