import { assert, describe, it } from "@effect/vitest"
import { shapeProblemOf } from "../../src/domain/JsonShape.ts"

const nested = (levels: number, open: string, close: string) => `${open.repeat(levels)}1${close.repeat(levels)}`
const list = (count: number, item: string) => `[${Array(count).fill(item).join()}]`
const members = (count: number) => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`

/** A JSON text whose strings contain these characters, which do not count, however its quotes are escaped. */
const inText = (what: string) => JSON.stringify({ text: [`\\"${what}\\`, what, `${what}\\\\`] })

describe("the shape of a JSON text", () => {
  const allowed: ReadonlyArray<readonly [string, string]> = [
    ["256 levels of arrays", nested(256, "[", "]")],
    ["256 levels of objects", nested(256, '{"a":', "}")],
    ["10,000 members", members(10_000)],
    ["199,999 arrays in one", list(199_999, "[]")],
    ["99,999 objects of one member", list(99_999, '{"a":1}')],
    ["4,000,001 numbers", list(4_000_001, "1")],
    ["texts of brackets", inText("[{".repeat(300_000))],
    ["texts of quotes", inText('"'.repeat(300_000))],
    ["texts of colons", inText(":".repeat(300_000))],
    ["texts of commas", inText(",".repeat(5_000_000))],
    ["a text that does not end", `["${"[".repeat(1_000)}`]
  ]
  for (const [name, text] of allowed) {
    it(`may be ${name}`, () => assert.isUndefined(shapeProblemOf(text)))
  }

  const refused: ReadonlyArray<readonly [string, string, RegExp]> = [
    ["257 levels of arrays", nested(257, "[", "]"), /256 levels/],
    ["100,000 levels of objects", nested(100_000, '{"a":', "}"), /256 levels/],
    ["levels after a text of quotes", `["\\"",${nested(256, "[", "]")}]`, /256 levels/],
    ["10,001 members", members(10_001), /10,000 members in each object/],
    ["200,000 arrays in one", list(200_000, "[]"), /200,000 objects, arrays and members/],
    ["200,000 objects in one", list(200_000, "{}"), /200,000 objects, arrays and members/],
    ["100,000 objects of one member", list(100_000, '{"a":1}'), /200,000 objects, arrays and members/],
    ["30 objects of 9,000 members", list(30, members(9_000)), /200,000 objects, arrays and members/],
    ["4,000,002 numbers", list(4_000_002, "1"), /4,000,000 values/]
  ]
  for (const [name, text, message] of refused) {
    it(`may not be ${name}`, () => assert.match(shapeProblemOf(text)?.message ?? "", message))
  }
})
