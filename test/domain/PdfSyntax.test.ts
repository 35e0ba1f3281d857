import { assert, describe, it } from "@effect/vitest"
import { parsePdf, PdfRef, PdfString, scanContent } from "../../src/domain/PdfSyntax.ts"

const valueOf = (text: string) => parsePdf(text, 0)?.value
const contentOf = (text: string) => {
  const { broken, shown, uses } = scanContent(Buffer.from(text, "latin1"))
  return { broken, shown, uses: Object.fromEntries(uses) }
}

describe("a value of a PDF file", () => {
  it("is parsed in every form", () => {
    assert.deepStrictEqual(valueOf("[1 -2.5 .5 +3 true false null /Name /A#42]"), [
      1,
      -2.5,
      0.5,
      3,
      true,
      false,
      null,
      "Name",
      "AB"
    ])
    assert.deepStrictEqual(valueOf("[12 0 R 7 % why\n0 R 8 0 Rx]")?.valueOf(), undefined)
    assert.deepStrictEqual(valueOf("[12 0 R 7 % why\n0 R 8 0]"), [new PdfRef(12), new PdfRef(7), 8, 0])
    assert.deepStrictEqual(valueOf("[(a\\)b(c)) <414>]"), [new PdfString(8), new PdfString(2)])
    const dict = valueOf("<< /A << /B [1] >> % a comment\n /C(d)/E/F >> stream")
    assert.deepStrictEqual(
      dict,
      new Map<string, unknown>([
        ["A", new Map([["B", [1]]])],
        ["C", new PdfString(2)],
        ["E", "F"]
      ]) as never
    )
  })

  it("is rejected without an end, nested too deeply, or with the key Kids twice", () => {
    for (const text of ["", "[1 2", "<< /A 1", "<< 1 2 >>", "what", "[".repeat(99), "<< /Kids [] /Ki#64s [1] >>"]) {
      assert.isUndefined(parsePdf(text, 0), text)
    }
    assert.deepStrictEqual(valueOf("<< /A 1 /A 2 >>"), new Map([["A", 2]]))
  })
})

describe("a content stream", () => {
  it("counts the bytes of its strings", () => {
    assert.deepStrictEqual(contentOf("BT /F1 9 Tf (ab) Tj [(c) -9 <4142>] TJ ET"), {
      broken: false,
      shown: 4 + 3 + 3,
      uses: {}
    })
    assert.deepStrictEqual(contentOf("% it's (in a comment)\n").shown, 14)
  })

  it("counts the uses of names before an operator that shows them", () => {
    assert.deepStrictEqual(contentOf("/G gs /A Do /A Do q /B % /C\n Do /Span /M BDC /Span << /N /O >> DP").uses, {
      A: 2,
      B: 1,
      C: 1,
      Span: 2,
      M: 1,
      N: 1,
      O: 1
    })
  })

  it("skips inline images", () => {
    const image = "BI /W 1 ID ( < % EI (a) Tj"
    assert.deepStrictEqual(contentOf(image), { broken: false, shown: 3, uses: {} })
    assert.isTrue(contentOf("BI /W 1 ID (").broken)
    assert.strictEqual(contentOf("ID (a) EI (b)").shown, 6)
  })

  it("is broken by a string without an end or with an invalid digit", () => {
    for (const text of ["(a", "(a\\)", "<41", "<4x>", "BI"]) assert.isTrue(contentOf(text).broken, text)
  })
})
