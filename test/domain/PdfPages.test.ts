import { assert, describe, it } from "@effect/vitest"
import { PDF_MAX_PAGES, type PdfSize, sizeOfPdf } from "../../src/domain/PdfPages.ts"
import { deflated, type PdfObjects, pdfOf, pdfWith, stream, updated } from "../support/Pdf.ts"

const sizeOf = (file: Buffer): PdfSize => {
  const size = sizeOfPdf(file)
  assert.isObject(size, String(size))
  return size as PdfSize
}

const catalogue = "<< /Type /Catalog /Pages 2 0 R >>"
const tree = (...kids: ReadonlyArray<number>) =>
  `<< /Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] /Count ${kids.length} >>`
const page = (more: string) => `<< /Type /Page /Parent 2 0 R ${more} >>`
const shows = (bytes: number) => `(${"x".repeat(bytes)}) Tj`

/** A file of one page with this content and these further objects. */
const onePage = (content: string, more: PdfObjects = {}, resources = "") =>
  pdfOf({ 1: catalogue, 2: tree(3), 3: page(`/Contents 4 0 R /Resources << ${resources} >>`), 4: content, ...more })

describe("the pages of a PDF file", () => {
  it("are counted in the page tree, with the text that they show", () => {
    const { pages, text } = sizeOf(pdfWith(["One two three.", "Four five six.", "Seven."]))
    assert.strictEqual(pages, 3)
    assert.isAtLeast(text, 34)
    assert.isAtMost(text, 60)
    assert.deepStrictEqual(sizeOf(pdfOf({ 1: catalogue, 2: tree(3), 3: page("") })), { pages: 1, text: 0 })
  })

  it("are counted without trusting /Count", () => {
    for (const count of [0, 1, -1, 1_000_000]) {
      const lying = `<< /Type /Pages /Kids [3 0 R 4 0 R] /Count ${count} >>`
      assert.strictEqual(sizeOf(pdfOf({ 1: catalogue, 2: lying, 3: page(""), 4: page("") })).pages, 2)
    }
  })

  it("are counted as often as the tree contains them", () => {
    assert.strictEqual(sizeOf(pdfOf({ 1: catalogue, 2: tree(3, 3, 3), 3: page("") })).pages, 3)
    // Sixteen nodes that each contain the next one twice make 65,536 pages.
    const doubling: Record<number, string> = { 1: catalogue }
    for (let node = 2; node < 18; node++) doubling[node] = tree(node + 1, node + 1)
    assert.strictEqual(sizeOfPdf(pdfOf({ ...doubling, 18: page("") })), "too_many_pages")
  })

  it("may be at most 100", () => {
    const of = (count: number) => pdfWith(Array.from({ length: count }, () => "x"))
    assert.strictEqual(sizeOf(of(PDF_MAX_PAGES)).pages, 100)
    assert.strictEqual(sizeOfPdf(of(PDF_MAX_PAGES + 1)), "too_many_pages")
  })

  it("cannot be counted when the tree has a cycle, is too deep, or refers to a missing object", () => {
    const deep: Record<number, string> = { 1: catalogue }
    for (let node = 2; node < 200; node++) deep[node] = tree(node + 1)
    const broken: ReadonlyArray<PdfObjects> = [
      { 1: catalogue, 2: tree(2) },
      { 1: catalogue, 2: tree(3), 3: tree(4), 4: tree(2, 5), 5: page("") },
      { ...deep, 200: page("") },
      { 1: catalogue, 2: tree(3, 9), 3: page("") },
      { 1: catalogue, 2: tree() },
      { 1: catalogue },
      { 1: "<< /Type /Catalog >>", 2: tree(3), 3: page("") },
      { 1: catalogue, 2: tree(3), 3: page("/Contents 9 0 R") },
      { 1: catalogue, 2: tree(3), 3: page("/Kids [4 0 R] /Kids [4 0 R 4 0 R]"), 4: page("") }
    ]
    for (const objects of broken) assert.strictEqual(sizeOfPdf(pdfOf(objects)), "unreadable", JSON.stringify(objects))
  })

  it("are found in object streams and after comments", () => {
    const inner = [tree(3, 3), page("")]
    const head = `2 0 3 ${inner[0]!.length + 1} `
    const packed = deflated(`${head}${inner.join(" ")}`, `/Type /ObjStm /N 2 /First ${head.length}`)
    assert.strictEqual(sizeOf(pdfOf({ 1: catalogue, 9: packed })).pages, 2)
    const hidden = Buffer.concat([
      pdfWith(["x"]),
      Buffer.from("2 % a comment\n0 obj << /Kids [4 0 R 4 0 R] >>\nendobj\n")
    ])
    assert.strictEqual(sizeOf(hidden).pages, 2)
  })

  it("are the largest count of all definitions that a reader may use", () => {
    const file = pdfWith(["One page with a text."])
    const longer = updated(file, { 2: tree(4, 4, 4) })
    assert.strictEqual(sizeOf(longer).pages, 3)
    assert.strictEqual(sizeOf(updated(longer, { 2: tree(4) })).pages, 3)
    const talkative = updated(file, { 5: stream(shows(500)) })
    assert.isAtLeast(sizeOf(talkative).text, 500)
    assert.isAtLeast(sizeOf(updated(talkative, { 5: stream("") })).text, 500)
  })
})

describe("the text of a PDF file", () => {
  it("is counted in form XObjects each time they are shown", () => {
    const form = (content: string, more = "") => stream(content, `/Type /XObject /Subtype /Form ${more}`)
    const inner = { 5: form("/B Do /B Do", "/Resources << /XObject << /B 6 0 R >> >>"), 6: form(shows(99)) }
    const file = onePage(stream(`${shows(9)} /A Do /A Do /A Do`), inner, "/XObject << /A 5 0 R >>")
    assert.strictEqual(sizeOf(file).text, 11 + 6 * 101)
    const picture = { 5: stream("x".repeat(999), "/Subtype /Image") }
    assert.strictEqual(sizeOf(onePage(stream("/A Do"), picture, "/XObject << /A 5 0 R >>")).text, 0)
  })

  it("cannot be counted in forms that show themselves or multiply without bound", () => {
    const form = stream("/A Do", "/Subtype /Form /Resources << /XObject << /A 5 0 R >> >>")
    assert.strictEqual(sizeOfPdf(onePage(stream("/A Do"), { 5: form }, "/XObject << /A 5 0 R >>")), "unreadable")
    const doubling: Record<number, string> = {}
    for (let node = 5; node < 70; node++) {
      const next = `/Resources << /XObject << /A ${node + 1} 0 R >> >>`
      doubling[node] = stream("/A Do ".repeat(100), `/Subtype /Form ${next}`)
    }
    const bomb = onePage(stream("/A Do"), { ...doubling, 70: stream(shows(9)) }, "/XObject << /A 5 0 R >>")
    assert.strictEqual(sizeOfPdf(bomb), "unreadable")
  })

  it("is counted in all parts of a page, in hexadecimal strings, marked content, annotations and after images", () => {
    const parts = { 4: "[5 0 R 6 0 R]", 5: stream(shows(10)), 6: stream(`<${"41".repeat(20)}> Tj`) }
    assert.strictEqual(sizeOf(onePage("", parts)).text, 12 + 21)
    const marks = "/Properties << /M << /ActualText (twelve bytes) >> >>"
    assert.strictEqual(sizeOf(onePage(stream("/Span /M BDC EMC /Span /M BDC EMC"), {}, marks)).text, 2 * 13)
    const image = "BI /W 1 /H 1 ID \xff(\xff EI (after) Tj"
    assert.strictEqual(sizeOf(onePage(stream(image))).text, 7)
    const note = "<< /Subtype /FreeText /Contents (a note) /AP << /N 6 0 R >> >>"
    const noted = { 3: page("/Contents 4 0 R /Annots [5 0 R]"), 5: note, 6: stream(shows(30)) }
    assert.isAtLeast(sizeOf(onePage(stream(""), noted)).text, 38)
  })

  it("is counted at the length that the font's Unicode table gives it", () => {
    const table = `begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <01> <${"0041".repeat(40)}> endbfchar`
    const font = { 5: "<< /Type /Font /ToUnicode 6 0 R >>", 6: deflated(table) }
    assert.strictEqual(sizeOf(onePage(stream(shows(99)), font)).text, 101 * 40)
    const names = { 5: `<< /Type /Font /Encoding << /Differences [1 /uni${"4E00".repeat(8)} /f_f_i] >> >>` }
    assert.strictEqual(sizeOf(onePage(stream(shows(99)), names)).text, 101 * 24)
  })

  it("cannot be counted behind image filters, or in strings without an end", () => {
    for (const content of [
      stream("x", "/Filter /DCTDecode"),
      stream("not deflated", "/Filter /FlateDecode"),
      stream("(no end"),
      stream("<41zz41> Tj"),
      stream("BI ID no end")
    ]) {
      assert.strictEqual(sizeOfPdf(onePage(content)), "unreadable", content)
    }
  })
})

describe("the size of a file", () => {
  it("is not_pdf without a PDF header", () => {
    for (const text of ["", "GIF89a", "<html>%PDF", `${" ".repeat(2_000)}%PDF-1.7`]) {
      assert.strictEqual(sizeOfPdf(Buffer.from(text)), "not_pdf")
    }
    assert.strictEqual(sizeOfPdf(Buffer.from("%PDF-1.7\nnothing else")), "unreadable")
  })

  it("is encrypted when its trailer or its cross-reference stream says so", () => {
    const objects = { 1: catalogue, 2: tree(3), 3: page("") }
    assert.strictEqual(sizeOfPdf(pdfOf(objects, "/Encrypt 9 0 R")), "encrypted")
    assert.strictEqual(sizeOfPdf(pdfOf(objects, "/#45ncrypt << /V 5 >>")), "encrypted")
    assert.strictEqual(sizeOfPdf(pdfOf({ ...objects, 8: stream("", "/Type /XRef /Encrypt 9 0 R") })), "encrypted")
  })

  it("is unreadable when its streams inflate beyond the limit, at little memory and time", () => {
    const content = deflated("x".repeat(64 * 1_048_576))
    assert.isBelow(content.length, 100_000)
    assert.strictEqual(sizeOfPdf(onePage(content)), "unreadable")
    const many: Record<number, string> = {}
    for (let part = 5; part < 105; part++) many[part] = deflated(`(${"x".repeat(1_048_576)}) Tj`)
    const kids = Object.keys(many).map((part) => `${part} 0 R`)
    assert.strictEqual(sizeOfPdf(onePage(`[${kids.join(" ")}]`, many)), "unreadable")
  })

  it("is unreadable, within seconds, when the file is built to take forever", () => {
    const head = "%PDF-1.7\n"
    const made = [
      "1 0 obj [ ".repeat(60_000),
      "1 0 obj ( ".repeat(60_000),
      "1 0 obj << /A ".repeat(60_000),
      "1 0 obj % ".repeat(60_000),
      "1 0 obj null ".repeat(150_000),
      "trailer << /A ( ".repeat(60_000),
      "1 ".repeat(500_000),
      `${" ".repeat(1_000_000)}1 0 obj`,
      `1 0 obj ${"[".repeat(500_000)}`,
      `1 0 obj ${"/".repeat(500_000)}`,
      `1 0 obj <${"4".repeat(500_000)}`
    ]
    for (const text of made) {
      const start = performance.now()
      assert.strictEqual(sizeOfPdf(Buffer.from(head + text)), "unreadable", text.slice(0, 20))
      assert.isBelow(performance.now() - start, 5_000, text.slice(0, 20))
    }
  })

  it("never has fewer pages because the file is truncated", () => {
    const file = pdfWith(["A page.", "Another page."])
    for (let length = 0; length < file.length; length += 7) {
      const size = sizeOfPdf(file.subarray(0, length))
      if (typeof size === "object") assert.strictEqual(size.pages, 2)
    }
  })
})
