/** A question in a form that is independent of the dialects. */

export interface Question {
  readonly system?: string
  /** Marks the prompt for the provider's cache up to the end of the system message. */
  readonly cached?: true
  readonly turns: ReadonlyArray<Turn>
  readonly tools?: ReadonlyArray<{ readonly name: string; readonly description: string; readonly parameters: object }>
  /** Requires the model to call a tool. */
  readonly mustCall?: true
  readonly parallel?: true
  /** The JSON schema of the answer. */
  readonly schema?: object
  /** The reasoning budget in tokens. */
  readonly thinking?: number
  /** The stop sequences. */
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

/** The `max_tokens` of every question. */
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

/** The question of each case, by the name of its fixtures and golden files. */
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

/** Returns whether an adapter has this case. Only wire formats with arguments as text can send cut-off arguments. */
export const isOf = (name: CaseName, adapter: string): boolean =>
  name !== "cut-call" || adapter === "openai" || adapter === "compatible"

/** Returns the outcome of a case, which is the same for every dialect and adapter. */
export const fateOf = (name: CaseName): "answered" | "broken" | "empty" =>
  name === "error" ? "broken" : name === "empty" ? "empty" : "answered"

/** The name of the schema. Anthropic's messages have no name for it, so the gateway sends this one to hosts that need one. */
export const SCHEMA_NAME = "output"

/** Returns the question of a case. A mark in its last turn tells the host which fixture to answer with. */
export const questionOf = (name: CaseName): Question => {
  const question: Question = cases[name]
  const turns = question.turns.map((turn, index) =>
    index === question.turns.length - 1 ? { ...turn, text: `${turn.text} (case ${name})` } : turn
  )
  return { ...question, turns }
}

/** Reads the mark from a request body. */
export const caseIn = (body: string): string | undefined => /\(case ([a-z-]+)\)/.exec(body)?.[1]
