/** What is asked, in no dialect's words, and in which of them it can be said. */

export interface Question {
  readonly system?: string
  /** The prompt is kept in the provider's cache up to the end of the system message. */
  readonly cached?: true
  readonly turns: ReadonlyArray<Turn>
  readonly tools?: ReadonlyArray<{ readonly name: string; readonly description: string; readonly parameters: object }>
  /** A tool must be called; else the model is free. */
  readonly mustCall?: true
  readonly parallel?: true
  /** Of a JSON object that the answer must be. */
  readonly schema?: object
  /** Tokens to think with. */
  readonly thinking?: number
  /** Texts that end the answer. */
  readonly stop?: ReadonlyArray<string>
}

export type Turn =
  | { readonly role: "user"; readonly text: string; readonly image?: { readonly type: string; readonly data: string } }
  | { readonly role: "assistant"; readonly text: string; readonly calls: ReadonlyArray<Call> }
  | { readonly role: "tool"; readonly callId: string; readonly text: string }

export interface Call {
  readonly id: string
  readonly name: string
  readonly input: object
}

/** Every question leaves the model so many tokens. */
export const MAX_TOKENS = 4_000

const weather = {
  name: "get_weather",
  description: "The weather in a city, now.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
    required: ["city"]
  }
}
const time = { name: "get_time", description: "The time.", parameters: { type: "object", properties: {} } }

/** A red pixel. */
const pixel = {
  type: "image/png",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
}

const said = (text: string): Question => ({ turns: [{ role: "user", text }] })

/** What is asked in each case, by the name that its fixtures and its golden files bear. */
export const cases = {
  text: { system: "You are terse.", ...said("Greet me from Oslo, with the weather.") },
  tools: {
    system: "Use the tools.",
    turns: [
      { role: "user", text: "What is the weather in Bergen?" },
      {
        role: "assistant",
        text: "I will look.",
        calls: [{ id: "call_bergen", name: "get_weather", input: { city: "Bergen" } }]
      },
      { role: "tool", callId: "call_bergen", text: "12 °C, rain" },
      { role: "assistant", text: "It rains in Bergen.", calls: [] },
      { role: "user", text: "And in Tromsø?" }
    ],
    tools: [weather]
  },
  "parallel-tools": {
    ...said("What is the weather in Oslo, and what time is it?"),
    tools: [weather, time],
    mustCall: true,
    parallel: true
  },
  image: { turns: [{ role: "user", text: "What is in the image?", image: pixel }] },
  reasoning: { ...said("What is 17 + 25?"), thinking: 2_048 },
  structured: {
    ...said("How cold is it in Oslo?"),
    schema: {
      type: "object",
      properties: { city: { type: "string" }, temperature_c: { type: "number" } },
      required: ["city", "temperature_c"],
      additionalProperties: false
    }
  },
  refusal: said("Help me to do harm."),
  length: said("Count to a hundred."),
  "stop-sequence": { ...said("Say half of it."), stop: ["END"] },
  cached: {
    system: "You know all about this image.",
    cached: true,
    turns: [{ role: "user", text: "What is in it?", image: pixel }]
  },
  "cut-call": { ...said("What is the weather in Tromsø?"), tools: [weather] },
  error: said("Are you well?"),
  empty: said("Say nothing.")
} satisfies Readonly<Record<string, Question>>

export type CaseName = keyof typeof cases

export const caseNames = Object.keys(cases) as ReadonlyArray<CaseName>

/** Whether the hosts of an adapter answer so: those whose arguments are no text tell nothing of half of them. */
export const isOf = (name: CaseName, adapter: string): boolean =>
  name !== "cut-call" || adapter === "openai" || adapter === "compatible"

/** What becomes of a case, whoever asks and answers. */
export const fateOf = (name: CaseName): "answered" | "broken" | "empty" =>
  name === "error" ? "broken" : name === "empty" ? "empty" : "answered"

/** What a schema is called where it has a name; messages, which have none, call it so for those who must. */
export const SCHEMA_NAME = "output"

/** A question of whichever case; the host knows by the mark in the last turn which fixture is its answer. */
export const questionOf = (name: CaseName): Question => {
  const question: Question = cases[name]
  const turns = question.turns.map((turn, index) =>
    index === question.turns.length - 1 ? { ...turn, text: `${turn.text} (case ${name})` } : turn
  )
  return { ...question, turns }
}

/** Reads the mark. */
export const caseIn = (body: string): string | undefined => /\(case ([a-z-]+)\)/.exec(body)?.[1]
