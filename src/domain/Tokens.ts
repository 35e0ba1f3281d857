import type * as O200k from "gpt-tokenizer/encoding/o200k_base"
import { createHash, hash } from "node:crypto"
import { createRequire } from "node:module"
import type { Conversation } from "./Conversation.ts"
import type { Output } from "./Output.ts"

/** The tokenizer's time grows with the square of an unbroken run, so no run longer than this is given to it. */
const PIECE_LENGTH = 128

/** A text up to this length is counted whole; it takes some 20 ms at the very worst, and nothing else runs meanwhile. */
const WHOLE_LENGTH = 32_768

/** Of a longer text so many samples are counted and stand for the rest. */
const SAMPLES = 64

/** Of one sample. Where it begins and ends a word may be cut in two, which counts for more the shorter it is. */
const SAMPLE_LENGTH = 4 * PIECE_LENGTH

/**
 * For so much text the tokenizer may remember how it has cut words. By itself it remembers 100,000, in 40 MB, and whatever it does
 * with that memory leaves waste that outlives all but the slow collector's rounds: a long stream would grow the process with it.
 */
const REMEMBERED_LENGTH = 262_144

const plainText = { disallowedSpecial: new Set<string>() }

const require = createRequire(import.meta.url)

let vocabulary: typeof O200k | undefined

/**
 * The vocabulary is read when something is first counted, which takes a tenth of a second, once. Its 200,000 strings are as much
 * for the garbage collector to look through as all the rest of the service, and where providers report usage nothing is counted.
 */
const countPiece = (text: string): number => {
  vocabulary ??= require("gpt-tokenizer/encoding/o200k_base") as typeof O200k
  return vocabulary.countTokens(text, plainText)
}

let remembered = 0

/** Without a memory and then given one, the tokenizer makes a new one; one that is cleared still hangs together with its waste. */
const forgetNowAndThen = (length: number): void => {
  remembered += length
  if (remembered < REMEMBERED_LENGTH) return
  remembered = 0
  vocabulary?.setMergeCacheSize(0)
  vocabulary?.setMergeCacheSize(vocabulary.DEFAULT_MERGE_CACHE_SIZE)
}

/** Where to cut: before the last blank, which changes no count, or after so many characters of an unbroken run. */
const cut = (text: string, start: number): number => {
  const end = start + PIECE_LENGTH
  if (end >= text.length) return text.length
  const blank = text.slice(start, end + 1).lastIndexOf(" ")
  return blank > 0 ? start + blank : end
}

const countWhole = (text: string): number => {
  let tokens = 0
  for (let start = 0; start < text.length;) {
    const end = cut(text, start)
    tokens += countPiece(text.slice(start, end))
    start = end
  }
  return tokens
}

/** One in each of as many equal parts of the text as there are samples. */
const samplesOf = (text: string): ReadonlyArray<string> => {
  const seed = hash("sha256", text, "buffer")
  const places = createHash("shake256", { outputLength: 4 * SAMPLES })
    .update(seed)
    .digest()
  const part = (text.length - SAMPLE_LENGTH) / SAMPLES
  return Array.from({ length: SAMPLES }, (_, sample) => {
    const start = Math.floor(part * (sample + places.readUInt32LE(4 * sample) / 2 ** 32))
    return text.slice(start, start + SAMPLE_LENGTH)
  })
}

/**
 * Counts a long text from samples. A client that disconnects before the usage arrives is charged by this count. So the whole text
 * decides where the samples lie, and none moves to a blank; otherwise a text could be made that is cheap at every sample.
 */
const countSampled = (text: string): number => {
  const tokens = samplesOf(text).reduce((sum, sample) => sum + countWhole(sample), 0)
  return Math.ceil((tokens * text.length) / (SAMPLES * SAMPLE_LENGTH))
}

/**
 * Tokens of a text by the o200k vocabulary, the count used where a provider reports none. Within about a percent up to 32,768
 * characters; a longer text is judged by 64 samples of it, to within a few percent for ordinary text, in the same short time.
 */
export const countTokens = (text: string): number => {
  const tokens = text.length <= WHOLE_LENGTH ? countWhole(text) : countSampled(text)
  forgetNowAndThen(text.length)
  return tokens
}

/** What an image is taken for where its provider does not say. */
const COUNTED_PER_IMAGE = 765

/** Characters of a PDF file's text that are taken for a token. */
const PDF_TEXT_PER_TOKEN = 4

/** Prompt tokens of a conversation, counted: all its text together, so that many small parts cost no more time than one. */
export const countPrompt = (conversation: Conversation): number => {
  let tokens = 3
  const texts: Array<string> = []
  for (const message of conversation.messages) {
    tokens += 4
    for (const part of message.content) {
      if (part.type === "text") texts.push(part.text)
      else if (part.type === "image") tokens += COUNTED_PER_IMAGE
      else {
        tokens += part.pages * COUNTED_PER_IMAGE + Math.ceil(part.text / PDF_TEXT_PER_TOKEN)
        for (const words of [part.name, part.context]) if (words !== undefined) texts.push(words)
      }
    }
    if (message.role !== "assistant") continue
    for (const call of message.toolCalls) texts.push(call.name, call.arguments)
    // Of other messages most providers take none back.
    if (message.toolCalls.length > 0) for (const part of message.reasoning ?? []) texts.push(part.text)
  }
  for (const tool of conversation.tools) {
    tokens += 8
    texts.push(tool.name, tool.description ?? "", JSON.stringify(tool.parameters ?? {}))
  }
  return tokens + countTokens(texts.join("\n"))
}

/** Output tokens of what was delivered, counted. */
export const countOutput = (output: Output): number => {
  const calls = output.toolCalls.flatMap((call) => [call.name, call.arguments])
  return countTokens([output.text, output.reasoning, output.refusal, ...calls].filter((text) => text !== "").join("\n"))
}
