/** Characters that stand for themselves within a JSON string. */
const PLAIN = /^[^"\\\p{Cc}]+$/u

const TEXT_BEGINS = /"content"\s*:\s*"/

/** V8 copies shorter slices; a longer one would keep the bytes around it for as long as the text is kept. */
const SHORT = 13

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
  if (!PLAIN.test(text)) return undefined
  return text.length < SHORT ? text : (JSON.parse(`"${text}"`) as string)
}
