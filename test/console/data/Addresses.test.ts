import { assert, describe, it } from "@effect/vitest"
import { fileUrl } from "../../../src/console/data/Addresses.ts"

describe("the address of a file", () => {
  it("is on the console's origin, whatever the gateway's public address is", () => {
    assert.strictEqual(fileUrl("https://gateway.example/files/file_1"), "/files/file_1")
    assert.strictEqual(fileUrl("http://127.0.0.1:8787/files/file_1?x=1"), "/files/file_1?x=1")
  })

  it("stays as it is for anything else", () =>
    assert.strictEqual(fileUrl("https://cdn.example/clip.mp4"), "https://cdn.example/clip.mp4"))
})
