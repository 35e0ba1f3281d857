import { assert, describe, it } from "@effect/vitest"
import { JsonScan, NOWHERE } from "../../../src/providers/wire/JsonScan.ts"
import { Random } from "../../ledger/Random.ts"

const bytesOf = (text: string) => Buffer.from(text)

const parsed = (text: string): unknown => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

/** Rebuilds the value at the start of a text from the positions that the scan reports. */
const scanned = (text: string): unknown => {
  const scan = new JsonScan(bytesOf(text))
  const valueAt = (at: number): { readonly end: number; readonly value: unknown } => {
    const end = scan.value(at)
    if (end === NOWHERE) return { end, value: undefined }
    const first = scan.text(at, at + 1)
    if (first === "[") {
      const value: Array<unknown> = []
      const listEnd = scan.elements(at, (start, index) => {
        assert.strictEqual(index, value.length)
        const element = valueAt(start)
        value.push(element.value)
        return element.end
      })
      assert.strictEqual(listEnd, end)
      return { end, value }
    }
    if (first === "{") {
      const value: Array<readonly [string, unknown]> = []
      const objectEnd = scan.members(at, (name, start) => {
        const member = valueAt(start)
        value.push([JSON.parse(name) as string, member.value])
        return member.end
      })
      assert.strictEqual(objectEnd, end)
      return { end, value: Object.fromEntries(value) }
    }
    return { end, value: JSON.parse(scan.text(at, end)) as unknown }
  }
  const { end, value } = valueAt(scan.start(0))
  return end === NOWHERE || !scan.isEnd(end) ? undefined : { value }
}

const strings = ["", "a", "]", "}", '"', "\\", '\\\\"', "a,b:c", "Ω😀", "\n\t\u0000", "[1,2]", '{"a":1}', "embedding"]
/** Contains no escaped names: Node 26's parser sometimes returns an escaped name as that of another object. */
const names = ["", "a", "]", "}", "a,b:c", "Ω😀", "[1,2]", "embedding", " "]
const numbers = [0, -0.5, 1e21, -1e-7, 12345.678, Number.MAX_SAFE_INTEGER]

const randomValue = (random: Random, depth: number): unknown => {
  const kind = random.below(depth > 4 ? 4 : 6)
  if (kind === 0) return random.pick([true, false, null])
  if (kind === 1) return random.pick(numbers)
  if (kind < 4) return random.pick(strings) + random.pick(strings)
  const items = Array.from({ length: random.below(4) }, () => randomValue(random, depth + 1))
  if (kind === 4) return items
  return Object.fromEntries(items.map((item, at) => [`${at}${random.pick(names)}`, item]))
}

/** The JSON text of a value, with whitespace wherever it is allowed. */
const written = (random: Random, value: unknown): string => {
  const blank = () => random.pick(["", "", " ", "\n", "\t \r\n"])
  const of = (one: unknown): string => {
    if (Array.isArray(one)) return `[${blank()}${one.map(of).join(`${blank()},${blank()}`)}${blank()}]`
    if (typeof one !== "object" || one === null) return JSON.stringify(one)
    const members = Object.entries(one).map(
      ([name, inner]) => `${JSON.stringify(name)}${blank()}:${blank()}${of(inner)}`
    )
    return `{${blank()}${members.join(`${blank()},${blank()}`)}${blank()}}`
  }
  return `${blank()}${of(value)}${blank()}`
}

/** The text, damaged in one place. */
const damaged = (random: Random, text: string): string => {
  const at = random.below(text.length + 1)
  const piece = random.pick([
    "",
    "",
    ",",
    "]",
    "}",
    "[",
    "{",
    '"',
    "\\",
    "0",
    "1",
    ".",
    "e",
    "-",
    "t",
    ":",
    " ",
    "\n",
    "\u0001"
  ])
  return (text.slice(0, at) + piece + text.slice(at + random.below(3))).toWellFormed()
}

const seed = Number(process.env["SCAN_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

describe(`JsonScan (SCAN_SEED=${seed})`, () => {
  it("finds the same values as the parser", () => {
    const random = new Random(seed)
    for (let round = 0; round < 2_000; round++) {
      const text = written(random, randomValue(random, 0))
      assert.deepStrictEqual(scanned(text), parsed(text), text)
    }
  })

  it("rejects exactly what the parser rejects", () => {
    const random = new Random(seed)
    let refused = 0
    for (let round = 0; round < 5_000; round++) {
      const text = damaged(random, written(random, randomValue(random, 0)))
      const expected = parsed(text)
      if (expected === undefined) refused += 1
      if (text.includes("\\")) assert.strictEqual(scanned(text) === undefined, expected === undefined, text)
      else assert.deepStrictEqual(scanned(text), expected, text)
    }
    assert.isAbove(refused, 1_000)
  })

  it("rejects invalid numbers, literals and strings", () => {
    for (const text of [
      "01",
      "-",
      "1.",
      ".5",
      "1e",
      "+1",
      "NaN",
      "nul",
      "truefalse",
      '"\\x"',
      '"\\u12g4"',
      '"a',
      "",
      "[",
      "{"
    ]) {
      assert.isUndefined(scanned(text), text)
    }
  })

  it("rejects deep nesting", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
    assert.isDefined(scanned(nested(64)))
    assert.isUndefined(scanned(nested(66)))
  })

  it("finds the end of vectors without parsing them", () => {
    const text = '[[1, -2.5e-3\n],[3],["]"],[[1]],[],[{"a":1}],"AAA=","a\\"b",[4'
    const scan = new JsonScan(bytesOf(text))
    const at = (part: string) => text.indexOf(part)
    for (const vector of ["[1, -2.5e-3\n]", "[3]"])
      assert.strictEqual(scan.numbers(at(vector)), at(vector) + vector.length)
    assert.strictEqual(scan.plainString(at('"AAA=')), at('"AAA=') + 6)
    for (const other of ["[[1, ", '["]"]', "[[1]]", "[]", '[{"a"', "[4", '"AAA']) {
      assert.strictEqual(new JsonScan(bytesOf(text)).numbers(at(other)), NOWHERE, other)
    }
    assert.deepStrictEqual([scan.plainString(at('"a\\"b')), scan.plainString(0)], [NOWHERE, NOWHERE])
  })
})
