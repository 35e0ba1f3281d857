/** Texts of the kinds that people send, for which the test counts tokens with the tokenizers of model families. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"

/** The number of texts of each kind. */
const PER_KIND = 25

/** Uniform numbers from 0 up to 1 that are the same on each run. */
const draws = (seed: string) => {
  let drawn = 0
  return () => createHash("sha256").update(`${seed} ${drawn++}`).digest().readUInt32LE() / 2 ** 32
}

const sentences = (language: string): ReadonlyArray<string> =>
  readFileSync(`test/support/texts/${language}.txt`, "utf8").trim().split("\n")

/** Sentences of a language in random order, with lists and paragraphs, as in a prompt. */
const prose = (language: string, joint: string) => (text: number) => {
  const draw = draws(`${language} ${text}`)
  const all = sentences(language)
    .map((sentence) => ({ sentence, at: draw() }))
    .toSorted((a, b) => a.at - b.at)
  const chosen = all.slice(0, 8 + Math.floor(draw() * 12)).map(({ sentence }) => sentence)
  return text % 5 === 0 ? chosen.map((sentence) => `- ${sentence}`).join("\n") : chosen.join(text % 3 ? joint : "\n\n")
}

const filesIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${directory}/${name}`)
    .toSorted()

/** Excerpts of a library at a pinned version, so that changes of this program do not change the counts. */
const code = (text: number): string => {
  const draw = draws(`code ${text}`)
  const long = filesIn("node_modules/effect/src")
    .map((file) => readFileSync(file, "utf8"))
    .filter((content) => content.length > 4_000)
  const content = long[Math.floor(draw() * long.length)]!
  const start = Math.floor(draw() * (content.length - 3_000))
  return content.slice(start, start + 3_000)
}

const record = (draw: () => number, words: ReadonlyArray<string>) => {
  const word = () => words[Math.floor(draw() * words.length)]!
  const whole = (digits: number) => Math.floor(draw() * 10 ** digits)
  return {
    id: whole(8),
    name: `${word()} ${word()}`,
    price: whole(5) / 100,
    at: new Date(1_760_000_000_000 + whole(10)).toISOString(),
    active: draw() < 0.5,
    tags: [word(), word()],
    digest: createHash("md5").update(String(draw())).digest("hex"),
    note: `${word()} ${word()} ${word()} ${word()} ${word()}`
  }
}

const jsonOf = (text: number): string => {
  const draw = draws(`json ${text}`)
  if (text % 2 === 0) {
    const published = readFileSync("schemas/published/openapi.json", "utf8")
    const start = Math.floor(draw() * (published.length - 3_000))
    const slice = published.slice(start, start + 3_000)
    return text % 4 === 0 ? slice : slice.replaceAll(/\n\s*/g, "")
  }
  const words =
    sentences("english")
      .join(" ")
      .match(/[a-z]{3,}/g) ?? []
  const records = Array.from({ length: 6 + Math.floor(draw() * 8) }, () => record(draw, words))
  return JSON.stringify(records, undefined, text % 3 === 0 ? 2 : undefined)
}

const base64 = (text: number): string => {
  const draw = draws(`base64 ${text}`)
  const bytes = Buffer.from(Array.from({ length: 600 + Math.floor(draw() * 900) }, () => Math.floor(draw() * 256)))
  const encoded = bytes.toString(text % 4 === 3 ? "base64url" : "base64")
  return text % 3 === 0 ? encoded.replaceAll(/.{76}/g, "$&\n") : encoded
}

const kinds: Readonly<Record<string, (text: number) => string>> = {
  English: prose("english", " "),
  code,
  JSON: jsonOf,
  Chinese: prose("chinese", ""),
  Japanese: prose("japanese", ""),
  Arabic: prose("arabic", " "),
  Russian: prose("russian", " "),
  base64
}

/** 200 texts, 25 of each kind. */
export const texts = Object.entries(kinds).flatMap(([kind, make]) =>
  Array.from({ length: PER_KIND }, (_, text) => ({ kind, text: make(text) }))
)
