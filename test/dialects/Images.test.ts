import { assert, describe, it } from "@effect/vitest"
import { checkImages, IMAGE_MAX_BYTES } from "../../src/dialects/Images.ts"
import type { Message, Part } from "../../src/domain/Conversation.ts"

const image = (url: string, field = "at"): Part => ({ type: "image", url, detail: "auto", field })
const asked = (...content: ReadonlyArray<Part>): ReadonlyArray<Message> => [{ role: "user", content }]
const bytes = (count: number) => `data:image/png;base64,${"A".repeat(Math.ceil(count / 3) * 4)}`

describe("images in a prompt", () => {
  it("must be web URLs or base64 data URLs", () => {
    assert.isUndefined(checkImages(asked({ type: "text", text: "ftp://example.com/a.png" })))
    for (const url of [
      "https://example.com/a.png",
      "HTTPS://example.com",
      "http://127.0.0.1/a",
      "data:image/svg+xml;base64,AA=="
    ]) {
      assert.isUndefined(checkImages(asked(image(url))), url)
    }
    for (const url of ["ftp://example.com/a.png", "/a.png", "data:image/png,AA", "data:text/plain;base64,AA=="]) {
      const { reason } = checkImages(asked(image("https://example.com/a.png"), image(url, "there")))!
      assert.strictEqual(reason._tag === "ValidationError" ? reason.problems[0].field : "", "there", url)
    }
  })

  it("may have at most 20 MiB when they are in a user's or a tool's message", () => {
    assert.isUndefined(checkImages(asked(image(bytes(IMAGE_MAX_BYTES - 3)))))
    const long = image(bytes(IMAGE_MAX_BYTES + 3))
    const tooLarge = { _tag: "ImageTooLarge", param: "at", limitBytes: IMAGE_MAX_BYTES } as const
    assert.deepStrictEqual(checkImages(asked(long))?.reason, tooLarge)
    assert.deepStrictEqual(checkImages([{ role: "tool", toolCallId: "c", content: [long] }])?.reason, tooLarge)
  })
})
