import { assert, describe, it } from "@effect/vitest"
import { bytesOf, messageOfAnswer, messagesOfRequest, newMessages, type SaidMessage } from "../../src/sessions/Turn.ts"

const said = (...texts: ReadonlyArray<string>): ReadonlyArray<SaidMessage> =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }))

/** What of the second conversation is new to a session whose last messages are the first. */
const added = (session: ReadonlyArray<SaidMessage>, request: ReadonlyArray<SaidMessage>) => {
  const last = messagesOfRequest(session).map(({ digest }) => digest)
  return newMessages(last, messagesOfRequest(request)).map(({ content }) => JSON.parse(content))
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
    const image = [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:," } }] }]
    assert.deepStrictEqual(added(image, [...image, ...said("b")]), ["b"])
  })
})

describe("a message as it is recorded", () => {
  it("has its content as JSON, whatever characters it has", () => {
    const text = '\0 \ud800 "é"'
    const [message] = messagesOfRequest([{ role: "user", content: text }])
    assert.strictEqual(JSON.parse(message!.content), text)
    assert.notInclude(message!.content, "\0")
    assert.strictEqual(bytesOf([{ content: "é" }, { content: "a" }]), 3)
  })

  it("says of an answer what it was, and is the same when it is said again", () => {
    const answer = { content: "b", model: "m", usage: { total_tokens: 3 }, cost: 12n }
    const recorded = messageOfAnswer({ name: "t", messages: [], answer })
    assert.deepInclude(recorded, { role: "assistant", content: '"b"', turn: "t", model: "m", cost: "12" })
    assert.strictEqual(recorded.usage, '{"total_tokens":3}')
    const [again] = messagesOfRequest([{ role: "assistant", content: "b" }])
    assert.strictEqual(recorded.digest, again!.digest)
  })
})
