/** Compares the tables of the pages on dialects with the decoders and encoders. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeChat } from "../src/dialects/chat/ChatDecode.ts"
import { encodeCompletion } from "../src/dialects/chat/ChatEncode.ts"
import { SCHEMA_MAX_BYTES, SCHEMA_MAX_LEVELS } from "../src/dialects/OutputSchema.ts"
import { FILE_MAX_BYTES } from "../src/dialects/TextFiles.ts"
import { decodeMessages } from "../src/dialects/messages/MessagesDecode.ts"
import { encodeMessage } from "../src/dialects/messages/MessagesEncode.ts"
import { encodeMessagesError } from "../src/dialects/messages/MessagesFailure.ts"
import { decodeResponses } from "../src/dialects/responses/ResponsesDecode.ts"
import { encodeResponse } from "../src/dialects/responses/ResponsesEncode.ts"
import type { DecodedRequest } from "../src/dialects/DecodedRequest.ts"
import type { Failure } from "../src/domain/Failure.ts"
import { emptyOutput, type Output } from "../src/domain/Output.ts"
import { PDF_MAX_PAGES } from "../src/domain/PdfPages.ts"
import { TEXT_WITHIN_PAGE } from "../src/domain/TokenBound.ts"
import { table } from "../src/http/FailureRows.ts"
import type { Answer } from "../src/domain/Answer.ts"
import { promptImageLimits } from "../src/inference/PromptImages.ts"
import { pagesOfDocs, quoted, tableIn } from "./support/Documents.ts"
import { operations } from "./support/Published.ts"
import { textOf } from "./support/Sources.ts"

/** The text of all pages on dialects. */
const page = pagesOfDocs
  .filter((path) => path.startsWith("docs/dialects"))
  .map(textOf)
  .join("\n")
/** Returns the text from this title on, because two tables have the same headings. */
const below = (title: string) => page.slice(page.indexOf(`\n## ${title}\n`))

type Body = Readonly<Record<string, unknown>>

const model = "gpt-4o-mini"
const messages = [{ role: "user", content: "Hello!" }]
const dialects: Readonly<Record<string, (body: Body) => Result.Result<DecodedRequest, Failure>>> = {
  chat: (body) => decodeChat({ model, messages, ...body }),
  responses: (body) => decodeResponses({ model, input: "Hello!", ...body }, undefined),
  messages: (body) => decodeMessages({ model, messages, max_tokens: 9, ...body })
}

const examplesIn = (title: string) =>
  tableIn(below(title), "Dialect").flatMap(([name = "", examples = ""]) =>
    quoted(examples).map((example) => {
      const decode = dialects[quoted(name)[0] ?? ""]
      assert.isDefined(decode, name)
      const body = JSON.parse(example) as Body
      return { example, member: Object.keys(body)[0] ?? "", decoded: decode(body) }
    })
  )

const answerOf = (output: Partial<Output>): Answer => ({
  requestId: "req_00000000000000000000000001",
  created: 0,
  model,
  resolvedModel: model,
  provider: "openai",
  output: { ...emptyOutput, ...output },
  usage: { input: 1, cached: 20, cacheWrite: 300, output: 4_000, reasoning: 1_500 },
  cost: 0n,
  routing: {
    strategy: "balanced",
    requested_models: [model],
    resolved_model: model,
    provider: "openai",
    fallbacks_allowed: true,
    data_policy: "default"
  },
  balanceWarning: undefined
})

const echo = { instructions: null, maxOutputTokens: null, metadata: {}, parallelToolCalls: true }

/** Returns the answer in each dialect, in the order of the page's columns. */
const encoded = (answer: Answer) => ({
  chat: encodeCompletion(answer),
  response: encodeResponse(answer, echo),
  message: encodeMessage(answer, true)
})

const call = { id: "call_1", name: "weather", arguments: "{}" }

/** How an answer can end, by the page's name for it. */
const ends: Readonly<Record<string, Partial<Output>>> = {
  finished: { text: "so", finish: "stop" },
  "wrote a stop sequence that the provider names": { text: "so", finish: "stop", stopSequence: "END" },
  "called tools": { toolCalls: [call], finish: "tool_calls" },
  "reached the limit of the output": { text: "so", finish: "length" },
  "was filtered": { text: "so", finish: "content_filter" }
}

/** Returns the field at a path with dots. */
const memberOf = (value: object, path: string): unknown =>
  path.split(".").reduce<unknown>((into, key) => (into as Body | undefined)?.[key], value)

describe("the pages on dialects", () => {
  it("name only existing operations", () => {
    const paths = new Set(operations.map(({ method, path }) => `${method} ${path}`))
    const named = quoted(page).filter((word) => word.startsWith("POST "))
    assert.isAtLeast(new Set(named).size, 6)
    for (const name of named) assert.isTrue(paths.has(name), name)
  })

  it("list refused fields that the decoders refuse", () => {
    const examples = examplesIn("Refused fields")
    assert.isAbove(examples.length, 15)
    for (const { decoded, example, member } of examples) {
      const { reason } = Result.isFailure(decoded) ? decoded.failure : assert.fail(`${example} must be refused`)
      assert.strictEqual(reason._tag, "UnsupportedParameter", example)
      const param = reason._tag === "UnsupportedParameter" ? reason.param : ""
      assert.strictEqual(param.split(/[.[]/)[0], member, example)
    }
  })

  it("list ignored fields that the decoders ignore", () => {
    const examples = examplesIn("Ignored fields")
    assert.isAbove(examples.length, 5)
    for (const { decoded, example, member } of examples) {
      const { ignored } = Result.isSuccess(decoded) ? decoded.success : assert.fail(`${example} must not be refused`)
      assert.deepStrictEqual(
        ignored.map((name) => name.split(/[.[]/)[0]),
        [member],
        example
      )
    }
  })

  it("list the finish reason of each dialect for each way to end", () => {
    const rows = tableIn(page, "The model")
    assert.sameMembers(
      rows.map(([name]) => name ?? ""),
      Object.keys(ends)
    )
    for (const [name = "", ...said] of rows) {
      const { chat, message, response } = encoded(answerOf(ends[name] ?? {}))
      assert.deepStrictEqual(
        said.map((cell) => quoted(cell)[0] ?? ""),
        [
          chat.choices[0]?.finish_reason,
          message.stop_reason,
          response.status,
          response.incomplete_details?.reason ?? ""
        ],
        name
      )
    }
  })

  it("name the usage field of each dialect for each token count", () => {
    const answer = answerOf({ text: "so", finish: "stop" })
    const { chat, message, response } = encoded(answer)
    const { cached, cacheWrite, input, output, reasoning } = answer.usage
    const counts: Readonly<Record<string, number>> = {
      input_tokens: input,
      cached_tokens: cached,
      cache_creation_tokens: cacheWrite,
      output_tokens: output,
      reasoning_tokens: reasoning
    }
    const rows = tableIn(page, "Receipt")
    assert.deepStrictEqual(
      rows.map(([name = ""]) => quoted(name)[0]),
      Object.keys(counts)
    )
    for (const [name = "", ...cells] of rows) {
      const count = counts[quoted(name)[0] ?? ""] ?? 0
      for (const [index, usage] of [chat.usage, response.usage, message.usage].entries()) {
        const cell = cells[index] ?? ""
        const less = cell.endsWith(" less the next two") ? cached + cacheWrite : 0
        assert.strictEqual(memberOf(usage, quoted(cell)[0] ?? ""), count + less, cell)
      }
    }
  })

  it("list the error types that have another name in the Messages API", () => {
    const said = tableIn(page, "`type` elsewhere").map((cells) => cells.map((cell) => quoted(cell)[0] ?? ""))
    const made = Object.values(table).map(({ code, type }) => [
      type,
      encodeMessagesError({ code, type, message: "", param: null }).type
    ])
    const different = new Map(made.flatMap(([type = "", word = ""]) => (type === word ? [] : [[type, word]])))
    assert.deepStrictEqual(new Map(said.map(([type = "", word = ""]) => [type, word])), different)
  })

  it("state the limits of the code", () => {
    const { addresses, imageBytes, requestBytes, totalMs } = promptImageLimits
    const mib = (bytes: number) => `${bytes / 1_048_576} MiB`
    for (const words of [
      `in UTF-8, up to ${mib(FILE_MAX_BYTES)} each`,
      `| ${PDF_MAX_PAGES} pages in all PDF files of a request |`,
      `Text beyond ${TEXT_WITHIN_PAGE.toLocaleString("en")} bytes a page`,
      `| size | ${mib(imageBytes)} each |`,
      `${addresses} addresses`,
      `${mib(requestBytes)} of images`,
      `| time for fetching | ${totalMs / 1_000} seconds |`,
      `${SCHEMA_MAX_BYTES / 1_024} KiB and ${SCHEMA_MAX_LEVELS} levels`
    ]) {
      assert.include(page, words)
    }
  })
})
