/**
 * How many pages a PDF file has, and how much text they show. A file may have several definitions of an object. Its tables name one
 * of them, but a reader that finds the tables broken searches the file. So every definition counts, and the largest decides.
 */
import { type PdfContent, type PdfDict, PdfRef, PdfString, type PdfValue, parsePdf, scanContent } from "./PdfSyntax.ts"
import { decodeStream } from "./PdfStream.ts"

/** What providers bill of a PDF file. */
export interface PdfSize {
  readonly pages: number
  /** At least the tokens of all its text. */
  readonly text: number
}

/** Why a file is not counted: it is no PDF, needs a password, has too many pages, or readers may see more in it than this code finds. */
export type PdfProblem = "not_pdf" | "encrypted" | "too_many_pages" | "unreadable"

/** The most pages of the files of a request, as Anthropic documents. */
export const PDF_MAX_PAGES = 100

/** How many bytes readers allow before the file's header. */
const HEAD_WITHIN = 1_024

/** More definitions of objects than a file of 100 pages has. */
const MAX_DEFINITIONS = 100_000

/** The most bytes of streams to inflate for one request's files, which takes 0.2 s. A page has about 20,000, a drawing millions. */
const MAX_DECODED = 16 * 1_048_576

/** How many bytes may still be inflated for the files of one request. */
export interface PdfAllowance {
  left: number
}

/** A new allowance for one request. */
export const pdfAllowance = (): PdfAllowance => ({ left: MAX_DECODED })

/** The most nodes of the tree of pages to visit, and how deep it and forms within forms may be. */
const MAX_NODES = 10_000
const MAX_DEPTH = 48

const WHITE = String.raw`[\0\t\n\f\r ]+`
const HEADER = new RegExp(String.raw`(\d{1,10})${WHITE}\d{1,10}${WHITE}obj`, "g")

/** One definition of an object in the file. */
interface Definition {
  /** Undefined when it cannot be read. */
  readonly value: PdfValue | undefined
  /** The offset of its stream in the file, if it has one. */
  readonly stream: number | undefined
}

const isDict = (value: PdfValue | undefined): value is PdfDict => value instanceof Map
const isList = (value: PdfValue | undefined): value is ReadonlyArray<PdfValue> => Array.isArray(value)

const dictOf = ({ value }: Definition): PdfDict | undefined => (isDict(value) ? value : undefined)

/** The most bytes of UTF-8 for UTF-16 in hexadecimal digits. */
const utf8Of = (digits: string): number => {
  let bytes = 0
  for (let at = 0; at < digits.length; at += 4) {
    const unit = Number.parseInt(digits.slice(at, at + 4), 16)
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3
  }
  return bytes
}

/** The most bytes of text for a shown byte by a font's own table: its longest text by its shortest code. */
const expansionOf = (table: string): number => {
  let [longest, shortest] = [1, Infinity]
  for (const [, written = ""] of table.matchAll(/<([0-9A-Fa-f\0\t\n\f\r ]+)/g)) {
    const digits = written.replaceAll(/[^0-9A-Fa-f]/g, "")
    longest = Math.max(longest, utf8Of(digits))
    if (digits !== "") shortest = Math.min(shortest, Math.ceil(digits.length / 2))
  }
  return longest / Math.max(1, shortest === Infinity ? 1 : shortest)
}

/** The bytes of a glyph's text by the name of the glyph: `f_f_i` is three characters, and `uni` has four digits for each. */
const glyphBytes = (name: string): number =>
  name
    .split("_")
    .reduce((sum, part) => sum + (/^uni[0-9A-F]{4}/.test(part) ? 3 * Math.floor((part.length - 3) / 4) : 1), 0)

class PdfFile {
  readonly #bytes: Buffer
  readonly #text: string
  readonly #definitions = new Map<number, Array<Definition>>()
  readonly #contents = new Map<Definition, PdfContent | undefined>()
  readonly #forms = new Map<PdfValue | undefined, Map<number, number>>()
  #count = 0
  readonly #allowance: PdfAllowance
  #parsed = 0
  #nodes = 0
  #encrypted = false
  #overrun = false

  constructor(bytes: Buffer, allowance: PdfAllowance) {
    this.#bytes = bytes
    this.#allowance = allowance
    this.#text = bytes.toString("latin1")
  }

  size(): PdfSize | PdfProblem {
    if (!this.#text.slice(0, HEAD_WITHIN).includes("%PDF-")) return "not_pdf"
    this.#findObjects()
    if (this.#encrypted || this.#trailersEncrypt()) return "encrypted"
    const all = [...this.#definitions.values()].flat()
    const roots = all.flatMap((one) => dictOf(one)?.get("Pages") ?? []).filter((value) => value instanceof PdfRef)
    const sizes = roots.map((root) => this.#tree(root, undefined, []))
    const pages = Math.max(0, ...sizes.map((size) => size.pages))
    const text = Math.max(0, ...sizes.map((size) => size.text)) * this.#expansion(all)
    if (this.#overrun || pages === 0 || pages === Infinity) return "unreadable"
    if (pages > PDF_MAX_PAGES) return "too_many_pages"
    return Number.isSafeInteger(Math.ceil(text)) ? { pages, text: Math.ceil(text) } : "unreadable"
  }

  #findObjects(): void {
    const text = this.#text
    // Comments may stand between the words of an object's head.
    const plain = text.replaceAll(/%[^\r\n]*/g, (comment) => " ".repeat(comment.length))
    const heads = new Map<number, number>()
    for (const source of [text, plain]) {
      for (const head of source.matchAll(HEADER)) {
        heads.set(head.index + head[0].length, Number(head[1]))
        if (heads.size > MAX_DEFINITIONS) this.#overrun = true
        if (this.#overrun) return
      }
    }
    const packed: Array<Definition> = []
    for (const [at, number] of heads) {
      const one = this.#define(number, text, at)
      if (dictOf(one)?.get("Type") === "ObjStm" && one.stream !== undefined) packed.push(one)
    }
    for (const one of packed) this.#unpack(one)
  }

  /** A limit for crafted files, in which the same objects are read again and again. */
  #define(number: number, text: string, at: number): Definition {
    const parsed = this.#overrun ? undefined : parsePdf(text, at)
    this.#parsed += (parsed?.end ?? text.length) - at
    if (this.#parsed > 2 * (this.#bytes.length + MAX_DECODED - this.#allowance.left)) this.#overrun = true
    const begin =
      parsed === undefined ? null : /^[\0\t\n\f\r ]*stream(\r\n|\n|\r)/.exec(text.slice(parsed.end, parsed.end + 64))
    const one: Definition = {
      value: parsed?.value,
      stream: begin === null || text !== this.#text ? undefined : parsed!.end + begin[0].length
    }
    const known = this.#definitions.get(number)
    if (known === undefined) this.#definitions.set(number, [one])
    else known.push(one)
    if (dictOf(one)?.has("Encrypt") === true) this.#encrypted = true
    if (++this.#count > MAX_DEFINITIONS) this.#overrun = true
    return one
  }

  /** The objects within an object stream. */
  #unpack(stream: Definition): void {
    const text = this.#data(stream)?.toString("latin1")
    const first = dictOf(stream)?.get("First")
    if (text === undefined || typeof first !== "number") {
      this.#overrun = true
      return
    }
    const numbers = [...text.slice(0, first).matchAll(/\d{1,10}/g)].map(([digits]) => Number(digits))
    for (let index = 0; index + 1 < numbers.length && !this.#overrun; index += 2) {
      this.#define(numbers[index]!, text, first + numbers[index + 1]!)
    }
  }

  #trailersEncrypt(): boolean {
    for (const { 0: word, index } of this.#text.matchAll(/trailer/g)) {
      const trailer = parsePdf(this.#text, index + word.length)
      this.#parsed += (trailer?.end ?? this.#text.length) - index
      if (this.#parsed > 2 * (2 * this.#bytes.length + MAX_DECODED - this.#allowance.left)) this.#overrun = true
      if (this.#overrun) return false
      if (isDict(trailer?.value) && trailer.value.has("Encrypt")) return true
    }
    return false
  }

  /** The data of a stream; undefined when it cannot be decoded, or is more than the allowance. */
  #data(stream: Definition): Buffer | undefined {
    const dict = dictOf(stream)
    const begin = stream.stream
    if (dict === undefined || begin === undefined) return undefined
    const filter = this.#one(dict.get("Filter"))
    const parameters = this.#one(dict.get("DecodeParms"))
    const [first] = isList(filter) ? filter : [filter]
    // Deflated data marks its own end. For other data the later of two possible ends counts.
    const length = this.#one(dict.get("Length"))
    const ended = this.#text.indexOf("endstream", begin)
    const end = Math.max(typeof length === "number" ? begin + length : 0, ended === -1 ? Infinity : ended)
    const deflated = first === "FlateDecode" || first === "Fl"
    const data = this.#bytes.subarray(begin, deflated ? undefined : end)
    if (!deflated) this.#allowance.left -= data.length
    if (this.#allowance.left < 0) return undefined
    const plain = decodeStream(data, filter, parameters, this.#allowance.left)
    this.#allowance.left -= plain?.length ?? 0
    return plain
  }

  /** Every value that a value may stand for. */
  #all(value: PdfValue | undefined, depth = 4): ReadonlyArray<PdfValue> {
    if (!(value instanceof PdfRef)) return value === undefined || value === null ? [] : [value]
    if (depth === 0) return []
    return (this.#definitions.get(value.number) ?? []).flatMap((one) => this.#all(one.value, depth - 1))
  }

  #dicts(value: PdfValue | undefined): ReadonlyArray<PdfDict> {
    return this.#all(value).filter(isDict)
  }

  /** The one value that a value stands for. If there are several it returns a name that does not exist, which no caller uses. */
  #one(value: PdfValue | undefined): PdfValue | undefined {
    const found = this.#all(value)
    return found.length > 1 ? "ambiguous" : found[0]
  }

  /** The number of pages below a node, or infinity when they cannot be counted. */
  #tree(node: PdfValue, inherited: PdfValue | undefined, above: ReadonlyArray<number>): PdfSize {
    const never: PdfSize = { pages: Infinity, text: Infinity }
    if (!(node instanceof PdfRef)) return isDict(node) ? this.#node(node, inherited, above) : never
    const { number } = node
    const definitions = this.#definitions.get(number)
    if (definitions === undefined || above.includes(number) || above.length > MAX_DEPTH) return never
    let [pages, text] = [0, 0]
    for (const one of definitions) {
      this.#nodes += 1
      const dict = dictOf(one)
      if (this.#nodes > MAX_NODES) return never
      // An object of which one definition is no node cannot be a page by that definition.
      if (dict === undefined) continue
      const size = this.#node(dict, inherited, [...above, number])
      pages = Math.max(pages, size.pages)
      text = Math.max(text, size.text)
    }
    return pages === 0 && definitions.every((one) => dictOf(one) === undefined) ? never : { pages, text }
  }

  #node(dict: PdfDict, inherited: PdfValue | undefined, above: ReadonlyArray<number>): PdfSize {
    const resources = dict.get("Resources") ?? inherited
    const kids = dict.get("Kids")
    if (kids === undefined) return { pages: 1, text: this.#page(dict, resources) }
    let [pages, text] = [0, 0]
    for (const list of this.#all(kids)) {
      let [below, shown] = [0, 0]
      for (const kid of isList(list) ? list : [list]) {
        const size = this.#tree(kid, resources, above)
        below += size.pages
        shown += size.text
        if (below > PDF_MAX_PAGES) break
      }
      pages = Math.max(pages, below)
      text = Math.max(text, shown)
    }
    return { pages, text }
  }

  /** What a page shows, with its annotations. */
  #page(page: PdfDict, resources: PdfValue | undefined): number {
    const contents = page.get("Contents")
    let most = 0
    for (const value of contents instanceof PdfRef ? (this.#definitions.get(contents.number) ?? [undefined]) : []) {
      const list = value?.value
      if (value !== undefined && !isList(list)) most = Math.max(most, this.#content(value, resources, []))
      else
        most = Math.max(
          most,
          value === undefined ? Infinity : this.#contentsIn(list as ReadonlyArray<PdfValue>, resources)
        )
    }
    if (isList(contents)) most = this.#contentsIn(contents, resources)
    let notes = 0
    for (const list of this.#all(page.get("Annots"))) {
      for (const note of isList(list) ? list : []) notes += this.#note(note, resources)
    }
    return most + notes
  }

  #contentsIn(list: ReadonlyArray<PdfValue>, resources: PdfValue | undefined): number {
    let sum = 0
    for (const one of list) {
      const definitions = one instanceof PdfRef ? this.#definitions.get(one.number) : undefined
      sum += Math.max(
        ...(definitions ?? []).map((each) => this.#content(each, resources, [])),
        definitions === undefined ? Infinity : 0
      )
    }
    return sum
  }

  /** An annotation's own text, and the text it is drawn with. */
  #note(note: PdfValue, resources: PdfValue | undefined): number {
    let most = 0
    for (const dict of this.#dicts(note)) {
      let sum = this.#words(dict)
      for (const looks of this.#dicts(dict.get("AP"))) {
        const normal = looks.get("N")
        sum += this.#form(normal, resources, [])
        for (const states of this.#dicts(normal))
          for (const state of states.values()) sum += this.#form(state, resources, [])
      }
      most = Math.max(most, sum)
    }
    return most
  }

  #words(value: PdfValue | undefined, depth = 3): number {
    if (value instanceof PdfString) return value.bytes
    if (depth === 0) return 0
    const inner = isDict(value) ? [...value.values()] : isList(value) ? value : []
    return inner.reduce((sum: number, one) => sum + this.#words(one, depth - 1), 0)
  }

  /** What the form of a reference shows; nothing for a picture. */
  #form(value: PdfValue | undefined, resources: PdfValue | undefined, above: ReadonlyArray<number>): number {
    if (!(value instanceof PdfRef)) return 0
    const { number } = value
    if (above.includes(number) || above.length > MAX_DEPTH) return Infinity
    const known = this.#forms.get(resources) ?? new Map<number, number>()
    this.#forms.set(resources, known)
    let most = known.get(number)
    if (most !== undefined) return most
    most = 0
    for (const one of this.#definitions.get(number) ?? []) {
      if (one.stream === undefined || dictOf(one)?.get("Subtype") === "Image") continue
      most = Math.max(most, this.#content(one, dictOf(one)?.get("Resources") ?? resources, [...above, number]))
    }
    known.set(number, most)
    return most
  }

  #content(stream: Definition, resources: PdfValue | undefined, above: ReadonlyArray<number>): number {
    const content = this.#scanned(stream)
    if (content === undefined || content.broken) return Infinity
    let sum = content.shown
    for (const [name, times] of content.uses) {
      let most = 0
      for (const dict of this.#dicts(resources)) {
        for (const forms of this.#dicts(dict.get("XObject")))
          most = Math.max(most, this.#form(forms.get(name), resources, above))
        for (const marks of this.#dicts(dict.get("Properties"))) {
          for (const mark of this.#dicts(marks.get(name))) most = Math.max(most, this.#words(mark))
        }
      }
      sum += times * most
    }
    return sum
  }

  /** A stream is read once, however many pages show it. */
  #scanned(stream: Definition): PdfContent | undefined {
    if (!this.#contents.has(stream)) {
      const data = this.#data(stream)
      this.#contents.set(stream, data === undefined ? undefined : scanContent(data))
    }
    return this.#contents.get(stream)
  }

  /** The most bytes of text for a shown byte in any font. */
  #expansion(all: ReadonlyArray<Definition>): number {
    let most = 1
    const read = new Set<number>()
    for (const one of all) {
      const dict = dictOf(one)
      const table = dict?.get("ToUnicode")
      if (table instanceof PdfRef && !read.has(table.number)) {
        read.add(table.number)
        for (const stream of this.#definitions.get(table.number) ?? []) {
          const text = this.#data(stream)?.toString("latin1")
          most = Math.max(most, text === undefined ? Infinity : expansionOf(text))
        }
      }
      const names = dict?.get("Differences")
      for (const name of isList(names) ? names : [])
        if (typeof name === "string") most = Math.max(most, glyphBytes(name))
      const inner = dict?.get("Encoding")
      const inline = isDict(inner) ? inner.get("Differences") : undefined
      for (const name of isList(inline) ? inline : [])
        if (typeof name === "string") most = Math.max(most, glyphBytes(name))
    }
    return most
  }
}

/** The size of a PDF file, or why it is not counted. The file's length and the allowance bound time and memory for any input. */
export const sizeOfPdf = (bytes: Buffer, allowance: PdfAllowance = pdfAllowance()): PdfSize | PdfProblem =>
  new PdfFile(bytes, allowance).size()
