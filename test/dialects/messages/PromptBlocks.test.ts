import { assert, describe, it } from "@effect/vitest"
import { pdfAllowance } from "../../../src/domain/PdfPages.ts"
import { cacheableOf, type FilesRead, textParts, userMessages } from "../../../src/dialects/messages/PromptBlocks.ts"
import { pdfWith } from "../../support/Pdf.ts"

const document = (data: string) =>
  ({
    type: "document",
    source: { type: "base64", media_type: "application/pdf", data },
    title: "A report",
    context: "Of last year",
    cache_control: { type: "ephemeral" }
  }) as const

describe("blocks of a user's turn", () => {
  it("with PDF files become parts, in tool results too", () => {
    const file = pdfWith(["One"]).toString("base64")
    const files: FilesRead = { allowance: pdfAllowance(), failures: [] }
    const broken = file.replaceAll(/.{76}/g, "$&\r\n")
    const result = { type: "tool_result", tool_use_id: "c", content: [document(broken)] } as const
    const read = userMessages([document(file), result], "messages[0]", files)
    const part = (field: string) => ({
      type: "pdf",
      data: file,
      name: "A report",
      context: "Of last year",
      pages: 1,
      text: 5,
      field,
      cacheBreakpoint: true
    })
    assert.deepStrictEqual(read, [
      { role: "tool", toolCallId: "c", content: [part("messages[0].content[1].content[0].source.data")] },
      { role: "user", content: [part("messages[0].content[0].source.data")] }
    ] as never)
    assert.deepStrictEqual(files.failures, [])
  })

  it("add the error of the first invalid file to the failures", () => {
    const files: FilesRead = { allowance: pdfAllowance(), failures: [] }
    userMessages([document("aGk="), document("JVBERi0")], "messages[3]", files)
    assert.deepStrictEqual(
      files.failures.map(({ reason }) => (reason._tag === "ValidationError" ? reason.problems[0].field : reason._tag)),
      ["messages[3].content[0].source.data"]
    )
  })

  it("keep texts and their cache breakpoints", () => {
    assert.deepStrictEqual(textParts(""), [])
    assert.deepStrictEqual(textParts([{ type: "text", text: "a" }]), [{ type: "text", text: "a" }])
    assert.deepStrictEqual(cacheableOf({ cache_control: { type: "ephemeral", ttl: "1h" } }), {
      cacheBreakpoint: true,
      cacheTtl: "1h"
    })
  })
})
