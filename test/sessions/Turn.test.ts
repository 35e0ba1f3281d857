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

/** What of the second conversation is new to a session whose last messages are the first. */
const added = (session: ReadonlyArray<RequestMessage>, request: ReadonlyArray<RequestMessage>) => {
  const last = messagesOfRequest(session).map(({ digest }) => digest)
  const messages = messagesOfRequest(request)
  return messages.slice(countKnown(last, messages)).map(({ content }) => JSON.parse(content))
}

describe("what is new to a session", () => {
  it("is all, when it is empty or none of it was said before", () => {
    assert.deepStrictEqual(added([], said("a")), ["a"])
    assert.deepStrictEqual(added(said("a", "b"), said("c")), ["c"])
  })

  it("is what comes after the whole conversation, or after its last part", () => {
    assert.deepStrictEqual(added(said("a", "b"), said("a", "b", "c")), ["c"])
    assert.deepStrictEqual(added(said("a", "b", "c", "d"), said("c", "d", "e")), ["e"])
    assert.deepStrictEqual(added(said("a", "b"), said("a", "b")), [])
  })

  it("is all, when the conversation was changed", () => {
    assert.deepStrictEqual(added(said("a", "b"), said("a", "x", "c")), ["a", "x", "c"])
    assert.deepStrictEqual(added([{ role: "user", content: "a" }], [{ role: "system", content: "a" }]), ["a"])
  })

  it("takes the longest part for known", () => {
    assert.deepStrictEqual(added(said("a", "a", "a"), said("a", "a", "a", "b")), ["b"])
  })

  it("minds what is said, not whether it is a string or a part", () => {
    const parts = [{ role: "user", content: [{ type: "text", text: "a" }] }]
    assert.deepStrictEqual(added(said("a"), [...parts, ...said("b")]), ["b"])
    const image = [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.com/" } }] }]
    assert.deepStrictEqual(added(image, [...image, ...said("b")]), ["b"])
  })
})

describe("the end of a session", () => {
  it("is what it is, however it is said", () => {
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

describe("a message as it is recorded", () => {
  it("has of a picture and a file their type and size, and is another for another of them", () => {
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

  it("has its content as JSON, whatever characters it has", () => {
    const text = '\0 \ud800 "é"'
    const [message] = messagesOfRequest([{ role: "user", content: text }])
    assert.strictEqual(JSON.parse(message!.content), text)
    assert.notInclude(message!.content, "\0")
    assert.strictEqual(bytesOf([{ content: "é" }, { content: "a" }]), 3 + 2 * MESSAGE_BYTES)
  })

  it("says of an answer what it was, and is the same when it is said again", () => {
    const answer = { content: "b", model: "m", usage: { total_tokens: 3 }, cost: 12n }
    const recorded = messageOfAnswer({ name: "t", messages: [], answer, free: false })
    assert.deepInclude(recorded, { role: "assistant", content: '"b"', turn: "t", model: "m", cost: "12" })
    assert.strictEqual(recorded.usage, '{"total_tokens":3}')
    const [again] = messagesOfRequest([{ role: "assistant", content: "b" }])
    assert.strictEqual(recorded.digest, again!.digest)
  })
})
