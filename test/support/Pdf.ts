/** Makes PDF files. */
import { deflateSync } from "node:zlib"

/** The objects of a file by their numbers: the text between `obj` and `endobj`. */
export type PdfObjects = Readonly<Record<number, string>>

/** A stream with its dictionary, to which `members` adds. */
export const stream = (data: string, members = ""): string =>
  `<< ${members} /Length ${data.length} >>\nstream\n${data}\nendstream`

/** A compressed stream, as most files have it. */
export const deflated = (data: string, members = ""): string =>
  stream(deflateSync(Buffer.from(data, "latin1")).toString("latin1"), `/Filter /FlateDecode ${members}`)

const offsetLine = (offset: number) => `${String(offset).padStart(10, "0")} 00000 n \n`

/** A file with these objects and their table. Object 1 is the catalogue. */
export const pdfOf = (objects: PdfObjects, trailer = ""): Buffer => {
  let text = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
  let [table, next] = ["0000000000 65535 f \n", 1]
  for (const [number, body] of Object.entries(objects)) {
    for (; next < Number(number); next += 1) table += "0000000000 65535 f \n"
    table += offsetLine(text.length)
    next += 1
    text += `${number} 0 obj\n${body}\nendobj\n`
  }
  const start = text.length
  text += `xref\n0 ${next}\n${table}trailer\n<< /Size ${next} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`
  return Buffer.from(text, "latin1")
}

/** A file with an update: objects that replace those with the same numbers. */
export const updated = (file: Buffer, objects: PdfObjects): Buffer =>
  Buffer.concat([
    file,
    Buffer.from(
      Object.entries(objects)
        .map(([number, body]) => `${number} 0 obj\n${body}\nendobj\n`)
        .join(""),
      "latin1"
    )
  ])

const FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"

/** The content of a page with a text in lines. */
export const linesOf = (text: string): string => {
  const lines = (text.match(/.{1,110}(?:\s|$)/g) ?? [text]).map((line) => line.replaceAll(/[\\()]/g, "\\$&"))
  return `BT /F1 7 Tf 8 TL 30 810 Td ${lines.map((line) => `(${line}) Tj T*`).join(" ")} ET`
}

/** A file with a page for each text, in Helvetica. */
export const pdfWith = (texts: ReadonlyArray<string>): Buffer => {
  const objects: Record<number, string> = { 1: "<< /Type /Catalog /Pages 2 0 R >>", 3: FONT }
  const kids = texts.map((text, index) => {
    const [page, content] = [4 + 2 * index, 5 + 2 * index]
    objects[page] =
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${content} 0 R >>`
    objects[content] = deflated(linesOf(text))
    return `${page} 0 R`
  })
  objects[2] = `<< /Type /Pages /Kids [${kids.join(" ")}] /Count ${kids.length} >>`
  return pdfOf(objects)
}

/** A file as a data URL. */
export const pdfUrl = (file: Buffer): string => `data:application/pdf;base64,${file.toString("base64")}`
