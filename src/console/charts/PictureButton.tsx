/** Saves a chart as a PNG image, drawn with the fonts and colours of the page. */
import type { RefObject } from "react"
import { download } from "../data/Download.ts"
import { Icon } from "../parts/Icons.tsx"
import { toast } from "../parts/Toasts.tsx"

/** Pixels per CSS pixel, so that the image is sharp on dense screens. */
const SCALE = 2
const MARGIN = 20
const TITLE_PX = 28
const ROW_PX = 20
const GAP = 18

const ALIGN: Readonly<Record<string, CanvasTextAlign>> = { start: "left", middle: "center", end: "right" }

const numberOf = (element: Element, name: string): number => Number(element.getAttribute(name) ?? 0)

const fontOf = ({ fontFamily, fontSize, fontWeight }: CSSStyleDeclaration): string =>
  `${fontWeight} ${fontSize} ${fontFamily}`

/** The shape of an element of a chart. */
const shapeOf = (element: Element): Path2D => {
  const at = (name: string) => numberOf(element, name)
  const shape = new Path2D(element.tagName === "path" ? (element.getAttribute("d") ?? "") : undefined)
  if (element.tagName === "rect") shape.rect(at("x"), at("y"), at("width"), at("height"))
  if (element.tagName === "circle") shape.arc(at("cx"), at("cy"), at("r"), 0, 2 * Math.PI)
  if (element.tagName === "line") {
    shape.moveTo(at("x1"), at("y1"))
    shape.lineTo(at("x2"), at("y2"))
  }
  return shape
}

const draw = (context: CanvasRenderingContext2D, element: Element): void => {
  const style = getComputedStyle(element)
  context.globalAlpha = Number(style.opacity)
  context.fillStyle = style.fill
  context.strokeStyle = style.stroke
  context.lineWidth = Number.parseFloat(style.strokeWidth)
  if (element.tagName === "text") {
    context.font = fontOf(style)
    context.textAlign = ALIGN[style.textAnchor] ?? "left"
    return context.fillText(element.textContent, numberOf(element, "x"), numberOf(element, "y"))
  }
  const shape = shapeOf(element)
  if (style.fill !== "none" && element.tagName !== "line") context.fill(shape)
  if (style.stroke !== "none") context.stroke(shape)
}

/** The entries of the legend with their positions below a chart of this width. */
const legendOf = (context: CanvasRenderingContext2D, chart: Element, width: number) => {
  let [x, row] = [0, 0]
  return [...chart.querySelectorAll(".legend > li")].map((entry) => {
    const text = `${entry.querySelector(".clip")?.textContent}  ${entry.querySelector(".number")?.textContent}`
    const wide = context.measureText(text).width + GAP
    if (x > 0 && x + wide > width) [x, row] = [0, row + 1]
    const place = { text, x, row, colour: getComputedStyle(entry.querySelector(".swatch") ?? entry).backgroundColor }
    x += wide + GAP
    return place
  })
}

/** Draws the chart with its title and its legend. Rejects when the browser cannot create the image. */
const pictureOf = (chart: Element, title: string): Promise<Blob> => {
  const svg = chart.querySelector("svg")
  const [canvas, page] = [document.createElement("canvas"), getComputedStyle(document.body)]
  const context = canvas.getContext("2d")
  if (svg === null || context === null)
    return Promise.reject(new Error("This browser cannot draw the chart. Download the CSV file instead."))
  const { height, width } = svg.viewBox.baseVal
  const small = `400 12px ${page.fontFamily}`
  context.font = small
  const legend = legendOf(context, chart, width)
  const rows = legend.length === 0 ? 0 : legend.at(-1)!.row + 1
  canvas.width = SCALE * (width + 2 * MARGIN)
  canvas.height = SCALE * (2 * MARGIN + TITLE_PX + height + rows * ROW_PX + (rows > 0 ? GAP : 0))
  context.scale(SCALE, SCALE)
  context.fillStyle = getComputedStyle(chart.closest(".card") ?? document.body).backgroundColor
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.translate(MARGIN, MARGIN)
  context.fillStyle = page.color
  context.font = `600 14px ${page.fontFamily}`
  context.fillText(title, 0, 14)
  context.translate(0, TITLE_PX)
  for (const element of svg.querySelectorAll("rect, line, path, circle, text")) draw(context, element)
  context.globalAlpha = 1
  context.font = small
  context.textAlign = "left"
  context.translate(0, height + GAP)
  for (const { colour, row, text, x } of legend) {
    context.fillStyle = colour
    context.fillRect(x, row * ROW_PX, 10, 10)
    context.fillStyle = page.color
    context.fillText(text, x + 16, row * ROW_PX + 9)
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) =>
        blob === null
          ? reject(new Error("The image is too large. Make the window smaller and try again."))
          : resolve(blob),
      "image/png"
    )
  )
}

interface PictureButtonProps {
  /** The element around the chart. */
  readonly of: RefObject<HTMLElement | null>
  /** The title in the image and the name of the file. */
  readonly title: string
  readonly disabled: boolean
}

/** A button that saves the chart inside an element as a PNG file. */
export const PictureButton = ({ disabled, of, title }: PictureButtonProps) => {
  const save = async () => {
    const chart = of.current?.querySelector(".chart")
    if (chart === null || chart === undefined) return
    await pictureOf(chart, title).then(
      (picture) => download(`${title}.png`, picture),
      (error: Error) => toast(error.message)
    )
  }
  return (
    <button type="button" className="button" disabled={disabled} onClick={() => void save()}>
      <Icon name="download" />
      Download PNG
      <span className="unseen"> of the chart</span>
    </button>
  )
}
