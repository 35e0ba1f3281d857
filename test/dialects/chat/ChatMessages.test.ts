import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { breakpointOf, messagesOf as readMessages } from "../../../src/dialects/chat/ChatMessages.ts"
import { ReasoningUnsealer } from "../../../src/dialects/ReasoningUnsealer.ts"
import { pdfUrl, pdfWith } from "../../support/Pdf.ts"

const messagesOf = (messages: Parameters<typeof readMessages>[0]) => readMessages(messages, new ReasoningUnsealer())

const file = (file_data: string, filename: string | null = null) =>
  ({ type: "file", file: { file_data, filename } }) as const
const text = "data:text/markdown;base64,aGk="

describe("messagesOf", () => {
  it("reads text files as text after a line with their name", () => {
    const [user, tool] = Result.getOrThrow(
      messagesOf([
        { role: "user", content: [file(text, "notes.md"), { type: "text", text: "so?" }] },
        { role: "tool", tool_call_id: "a", content: [file(text)] }
      ])
    )
    assert.deepStrictEqual(user?.content, [
      { type: "text", text: "notes.md\nhi" },
      { type: "text", text: "so?" }
    ])
    assert.deepStrictEqual(tool?.content, [{ type: "text", text: "hi" }])
  })

  it("keeps a refusal that the client sends back, and the names of speakers", () => {
    const read = Result.getOrThrow(
      messagesOf([
        { role: "user", name: "Ann", content: "a" },
        { role: "assistant", content: "", refusal: "I cannot." },
        { role: "assistant", name: "helper", content: "Well.", refusal: null },
        { role: "user", name: "", content: "b" }
      ])
    )
    const said = (words: string) => [{ type: "text", text: words }] as const
    assert.deepStrictEqual(read, [
      { role: "user", name: "Ann", content: said("a") },
      { role: "assistant", content: said("I cannot."), toolCalls: [] },
      { role: "assistant", name: "helper", content: said("Well."), toolCalls: [] },
      { role: "user", content: said("b") }
    ])
  })

  it("names the first file that it cannot read", () => {
    const other = file("data:application/zip;base64,aGk=")
    const read = messagesOf([
      { role: "user", content: "a" },
      { role: "user", content: [file(text), other, file("none")] }
    ])
    assert.deepInclude(Result.isFailure(read) ? read.failure.reason : undefined, {
      _tag: "UnsupportedParameter",
      param: "messages[1].content[1].file.file_data"
    })
  })
})

describe("a PDF file among the messages", () => {
  const about = (url: string) => ({ ...file(url), file: { file_data: url, filename: "two\nlines.pdf" } })

  it("becomes a part with its pages and the amount of its text, in a user's and in a tool's message", () => {
    const pdf = pdfWith(["One", "Two"])
    const content = [{ ...about(pdfUrl(pdf)), cache_control: { type: "ephemeral" } }] as const
    const read = Result.getOrThrow(
      messagesOf([
        { role: "user", content },
        { role: "tool", tool_call_id: "c", content }
      ])
    )
    for (const [index, message] of read.entries()) {
      assert.deepStrictEqual(message.content, [
        {
          type: "pdf",
          data: pdf.toString("base64"),
          name: "two lines.pdf",
          pages: 2,
          text: 10,
          field: `messages[${index}].content[0].file.file_data`,
          cacheBreakpoint: true
        }
      ])
    }
  })

  it("is rejected when it is not a PDF file", () => {
    const read = messagesOf([{ role: "user", content: [about("data:application/pdf;base64,aGk=")] }])
    assert.deepInclude(Result.isFailure(read) ? read.failure.reason : undefined, {
      _tag: "ValidationError",
      problems: [
        {
          field: "messages[0].content[0].file.file_data",
          message: "must be a PDF file; got a file that does not begin with %PDF-"
        }
      ]
    })
  })
})

describe("breakpointOf", () => {
  it("sets a cache breakpoint where there is a `cache_control`", () => {
    assert.deepStrictEqual(breakpointOf({ type: "ephemeral" }), { cacheBreakpoint: true })
    for (const nothing of [null, undefined]) assert.deepStrictEqual(breakpointOf(nothing), {})
  })
})
