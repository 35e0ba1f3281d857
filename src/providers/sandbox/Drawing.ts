/** Draws pictures from SVG. It takes tens of milliseconds, so it must not run on the event loop. */
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import type { Resvg as Renderer } from "@resvg/resvg-wasm"

/** The content of a picture. The same drawing always has the same pixels. */
export interface Drawing {
  /** In pixels. */
  readonly width: number
  readonly height: number
  /** Lines of text, each wrapped. Text that does not fit is cut, which an ellipsis shows. */
  readonly lines: ReadonlyArray<string>
  /** A 32-bit number that determines the colours. */
  readonly seed: number
  /** Omits the background. */
  readonly transparent?: boolean | undefined
}

const MONO = "DejaVu Sans Mono"

const loadRenderer = async () => {
  const { resolve } = createRequire(import.meta.url)
  const [{ initWasm, Resvg }, wasm, ...fontBuffers] = await Promise.all([
    import("@resvg/resvg-wasm"),
    readFile(resolve("@resvg/resvg-wasm/index_bg.wasm")),
    // The second font covers more scripts.
    readFile(resolve("dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf")),
    readFile(resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf"))
  ])
  await initWasm(wasm)
  return (svg: string) => new Resvg(svg, { font: { fontBuffers, defaultFontFamily: MONO } })
}

let loaded: ReturnType<typeof loadRenderer> | undefined

const rendered = async <A>(
  drawing: Drawing,
  take: (image: ReturnType<InstanceType<typeof Renderer>["render"]>) => A
): Promise<A> => {
  const renderer = (await (loaded ??= loadRenderer()))(svgOf(drawing))
  try {
    const image = renderer.render()
    try {
      return take(image)
    } finally {
      image.free()
    }
  } finally {
    renderer.free()
  }
}

/** The pixels row by row from the top, four bytes each: red, green, blue and alpha, premultiplied. */
export const drawRgba = (drawing: Drawing): Promise<Uint8Array> => rendered(drawing, (image) => image.pixels)

/** The drawing as a PNG file. */
export const drawPng = (drawing: Drawing): Promise<Uint8Array> => rendered(drawing, (image) => image.asPng())

/** As fractions of a letter's height: its width, and the line spacing. */
const LETTER_WIDTH = 0.602
const LINE_HEIGHT = 1.35

/** Replaces characters that XML 1.0 does not allow. */
const asXml = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    // It must not follow `]]`.
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")

/** Wraps one paragraph to lines of at most this many letters, at spaces where possible. */
const wrapped = (paragraph: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line: Array<string> = []
  for (const word of paragraph.split(/\s+/).filter((one) => one !== "")) {
    const letters = Array.from(word)
    if (line.length > 0 && line.length + 1 + letters.length > columns) lines.push(line.splice(0).join(""))
    if (line.length > 0) line.push(" ")
    line.push(...letters)
    while (line.length > columns) lines.push(line.splice(0, columns).join(""))
  }
  return line.length > 0 ? [...lines, line.join("")] : lines
}

/** At most this many lines. The last one shows when there were more. */
const fitted = (lines: ReadonlyArray<string>, columns: number, rows: number): ReadonlyArray<string> => {
  // Text beyond this limit is not processed, because a prompt can be long.
  const most = columns * rows
  const all = lines.flatMap((line) =>
    wrapped(
      Array.from(line.slice(0, 2 * most))
        .slice(0, most + 1)
        .join(""),
      columns
    )
  )
  if (all.length <= rows) return all
  const last = Array.from(all[rows - 1] ?? "").slice(0, Math.max(0, columns - 1))
  return [...all.slice(0, rows - 1), `${last.join("")}…`]
}

const groundOf = ({ height, seed, transparent, width }: Drawing): string => {
  if (transparent === true) return ""
  const hue = seed % 360
  const circle = (part: number) => {
    const x = ((seed >>> (3 * part)) % 100) / 100
    const y = ((seed >>> (5 * part + 1)) % 100) / 100
    const radius = (Math.min(width, height) * (2 + part)) / 12
    return `<circle cx="${x * width}" cy="${y * height}" r="${radius}" fill="hsl(${(hue + 40 * part) % 360},60%,50%)" fill-opacity="0.35"/>`
  }
  return [
    `<rect width="${width}" height="${height}" fill="hsl(${hue},50%,22%)"/>`,
    ...[1, 2, 3, 4].map(circle),
    `<rect width="${width}" height="${height}" fill="black" fill-opacity="0.25"/>`
  ].join("")
}

const svgOf = (drawing: Drawing): string => {
  const { height, lines, transparent, width } = drawing
  const margin = Math.min(width, height) / 20
  const size = Math.max(6, Math.min(width, height) / 24)
  const rows = Math.max(1, Math.floor((height - 2 * margin) / (size * LINE_HEIGHT)))
  const columns = Math.max(1, Math.floor((width - 2 * margin) / (size * LETTER_WIDTH)))
  const text = fitted(lines, columns, rows).map(
    (line, row) => `<text x="${margin}" y="${margin + size * (1 + row * LINE_HEIGHT)}">${asXml(line)}</text>`
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`,
    groundOf(drawing),
    `<g font-family="${MONO}" font-size="${size}" fill="${transparent === true ? "#888" : "white"}">`,
    ...text,
    "</g>",
    "</svg>"
  ].join("")
}
