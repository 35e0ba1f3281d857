/** Characters that stand for themselves within a JSON string. */
const PLAIN = /^[^"\\\p{Cc}]+$/u

const TEXT_BEGINS = /"content"\s*:\s*"/

/** V8 copies shorter slices; a longer one would keep the bytes around it for as long as the text is kept. */
const SHORT = 13

/** A plain text without the bytes around it. */
const copyOf = (text: string): string => (text.length < SHORT ? text : (JSON.parse(`"${text}"`) as string))

/** Data of a chunk that says one text, cut where the text was. */
export interface TextTemplate {
  readonly head: string
  readonly tail: string
}

/** Whether a text stands in JSON as it is. */
export const isPlain = (text: string): boolean => PLAIN.test(text)

/** The data around a plain text, where that stands in it as content; whether that text is the delta's has still to be seen. */
export const templateOf = (data: string, text: string): TextTemplate | undefined => {
  const found = TEXT_BEGINS.exec(data)
  if (found === null) return undefined
  const from = found.index + found[0].length
  const to = from + text.length
  return data.startsWith(`${text}"`, from) ? { head: data.slice(0, from), tail: data.slice(to) } : undefined
}

/** The same data with another text, which stands nowhere else in it. */
export const probeOf = ({ head, tail }: TextTemplate): { readonly data: string; readonly text: string } => {
  let text = "x"
  while (head.includes(text) || tail.includes(text)) text += "x"
  return { data: head + text + tail, text }
}

/** The text of data that differs from the template's in nothing else; undefined of any other data. */
export const textBetween = ({ head, tail }: TextTemplate, data: string): string | undefined => {
  const end = data.length - tail.length
  // Comparing slices takes an eighth of the time of startsWith and endsWith, which look at each character.
  if (end <= head.length || data.slice(0, head.length) !== head || data.slice(end) !== tail) return undefined
  const text = data.slice(head.length, end)
  return PLAIN.test(text) ? copyOf(text) : undefined
}

/** What stands around the text in a stream of such data, whose lines end in a line feed. */
export interface TextFrame {
  readonly opening: string
  readonly closing: string
}

export const frameOf = ({ head, tail }: TextTemplate): TextFrame => ({
  opening: `data: ${head}`,
  closing: `${tail}\n\n`
})

/** The texts of the events that begin at `from` and differ from the template's in nothing else, and where these end. */
export const textsFrom = (
  { closing, opening }: TextFrame,
  stream: string,
  from: number
): { readonly texts: ReadonlyArray<string>; readonly end: number } => {
  const raw: Array<string> = []
  let end = from
  let escape = stream.indexOf("\\", from)
  while (stream.slice(end, end + opening.length) === opening) {
    const start = end + opening.length
    const quote = stream.indexOf('"', start)
    if (escape !== -1 && escape < start) escape = stream.indexOf("\\", start)
    if (quote <= start || (escape !== -1 && escape < quote)) break
    if (stream.slice(quote, quote + closing.length) !== closing) break
    raw.push(stream.slice(start, quote))
    end = quote + closing.length
  }
  const joined = raw.join("")
  if (!PLAIN.test(joined)) return { texts: [], end: from }
  // Joined they are a copy, but for one alone.
  const said = raw.length === 1 ? copyOf(joined) : joined
  let at = 0
  return { texts: raw.map(({ length }) => said.slice(at, (at += length))), end }
}
