import { assert, describe, it } from "@effect/vitest"
import {
  bytesOf,
  endsWith,
  countKnown,
  MESSAGE_BYTES,
  messageOfAnswer,
  messagesOfRequest,
  type RequestMessage
} from "../../src/sessions/Turn.ts"

const said = (...texts: ReadonlyArray<string>): ReadonlyArray<RequestMessage> =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }))

/** Returns what a request adds to a session that ends with these messages. */
const added = (session: ReadonlyArray<RequestMessage>, request: ReadonlyArray<RequestMessage>) => {
  const last = messagesOfRequest(session).map(({ digest }) => digest)
  const messages = messagesOfRequest(request)
  return messages.slice(countKnown(last, messages)).map(({ content }) => JSON.parse(content))
}

describe("what a request adds to a session", () => {
  it("is everything when the session is empty or has none of it", () => {
    assert.deepStrictEqual(added([], said("a")), ["a"])
    assert.deepStrictEqual(added(said("a", "b"), said("c")), ["c"])
  })

  it("is what follows the whole conversation, or its last part", () => {
    assert.deepStrictEqual(added(said("a", "b"), said("a", "b", "c")), ["c"])
    assert.deepStrictEqual(added(said("a", "b", "c", "d"), said("c", "d", "e")), ["e"])
    assert.deepStrictEqual(added(said("a", "b"), said("a", "b")), [])
  })

  it("is everything when the client changed the conversation", () => {
    assert.deepStrictEqual(added(said("a", "b"), said("a", "x", "c")), ["a", "x", "c"])
    assert.deepStrictEqual(added([{ role: "user", content: "a" }], [{ role: "system", content: "a" }]), ["a"])
  })

  it("is what follows the longest part that the session has", () => {
    assert.deepStrictEqual(added(said("a", "a", "a"), said("a", "a", "a", "b")), ["b"])
  })

  it("depends on the content, not on whether it is a string or a part", () => {
    const parts = [{ role: "user", content: [{ type: "text", text: "a" }] }]
    assert.deepStrictEqual(added(said("a"), [...parts, ...said("b")]), ["b"])
    const image = [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/" } }] }]
    assert.deepStrictEqual(added(image, [...image, ...said("b")]), ["b"])
  })
})

describe("endsWith", () => {
  it("is true for the last messages of a session, whatever their number, and for no others", () => {
    const last = messagesOfRequest(said("a", "b", "c")).map(({ digest }) => digest)
    for (const end of [[], ["c"], ["a", "b", "c"]]) {
      const roles = said("a", "b", "c").slice(3 - end.length)
      assert.isTrue(endsWith(last, messagesOfRequest(roles)), end.join())
    }
    for (const no of [said("b"), said("x", "b", "c"), said("a", "b", "c", "d")]) {
      assert.isFalse(endsWith(last, messagesOfRequest(no)))
    }
  })
})

describe("a recorded message", () => {
  it("has only the type and size of an image or a file, and another digest for another one", () => {
    const png = (bytes: string) => `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`
    const parts = (bytes: string) => [
      { type: "text", text: "look: data:,here" },
      { type: "image_url", image_url: { url: png(bytes), detail: "low" } },
      { type: "file", file: { file_data: "data:text/plain;charset=utf-8,é", filename: "a.txt" } },
      { type: "image_url", image_url: { url: "https://example.com/a.png" } }
    ]
    const [one, other] = messagesOfRequest(["1234", "1235"].map((bytes) => ({ role: "user", content: parts(bytes) })))
    assert.deepStrictEqual(JSON.parse(one!.content), [
      parts("")[0],
      { type: "image_url", image_url: { url: "data:image/png (4 bytes)", detail: "low" } },
      { type: "file", file: { file_data: "data:text/plain (2 bytes)", filename: "a.txt" } },
      parts("")[3]
    ])
    assert.strictEqual(one!.content, other!.content)
    assert.notStrictEqual(one!.digest, other!.digest)
  })

  it("has its content as JSON, whatever its characters are", () => {
    const text = '\0 \ud800 "é"'
    const [message] = messagesOfRequest([{ role: "user", content: text }])
    assert.strictEqual(JSON.parse(message!.content), text)
    assert.notInclude(message!.content, "\0")
    assert.strictEqual(bytesOf([{ content: "é" }, { content: "a" }]), 3 + 2 * MESSAGE_BYTES)
  })

  it("has the model, usage and cost of an answer, and the same digest when the client sends the answer back", () => {
    const answer = { content: "b", model: "m", usage: { total_tokens: 3 }, cost: 12n }
    const recorded = messageOfAnswer({ name: "t", messages: [], answer, free: false })
    assert.deepInclude(recorded, { role: "assistant", content: '"b"', turn: "t", model: "m", cost: "12" })
    assert.strictEqual(recorded.usage, '{"total_tokens":3}')
    const [again] = messagesOfRequest([{ role: "assistant", content: "b" }])
    assert.strictEqual(recorded.digest, again!.digest)
  })
})
