/** What the real clients are asked to do, whichever they are. */
import { z } from "zod"
import type { Service } from "../../support/Service.ts"

/** What is asked for with a schema. */
export const Sky = z.object({ sky: z.enum(["clear", "grey"]), degrees: z.number().int() })

/** What all tools take. */
const parameters = z.object({ city: z.enum(["Oslo", "Rome"]) })

/** The tool that all clients offer. */
export const weather = {
  name: "weather",
  description: "The weather of a city",
  parameters,
  /** What it answers. */
  answer: "minus four"
}

/** Another, which they offer beside it where two are to be called at once. */
export const time = { name: "time", description: "The time in a city", parameters }

/** A call of one of them. */
export type Called = readonly [tool: string, city: string]

/** A question, and how its answer is to come. */
export interface Turn {
  readonly model: string
  readonly text: string
  readonly stream: boolean
}

/** A whole answer. */
export interface Said {
  readonly text: string
  /** The pieces that came one by one; none where the answer came whole. */
  readonly pieces: ReadonlyArray<string>
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

/** An answer that was thought about. */
export interface Thought {
  readonly thought: string
  readonly text: string
  /** The answer to what was asked next. */
  readonly next: string
}

/** What is asked next. */
export const NEXT = "hello again"

/** What a client's error says. */
export interface Told {
  /** The name of its class. */
  readonly kind: string
  readonly status: number | undefined
  readonly code: string | undefined
  readonly param: string | null | undefined
}

/** A client of one package at one of the operations. */
export interface Surface {
  readonly say: (turn: Turn) => Promise<Said>
  /** Runs the tool that the model calls and goes on until there is an answer; `ran` is told of each city. */
  readonly loop: (turn: Turn, ran: (city: string) => void) => Promise<string>
  /** The calls of one answer, where both tools are offered. */
  readonly calls: (turn: Turn) => Promise<ReadonlyArray<Called>>
  readonly parse: (turn: Turn) => Promise<unknown>
  /** Asks for thinking, and goes on with all of the answer, thinking included. */
  readonly think: (turn: Turn) => Promise<Thought>
  /** Hangs up at the first piece of a stream; answers the name of the class of what is thrown. */
  readonly abort: (turn: Omit<Turn, "stream">) => Promise<string>
  readonly told: (error: unknown) => Told
}

export interface SurfaceOf {
  readonly name: string
  /** The name of its class of a 402. */
  readonly noMoney: string
  /** `headers` go with every request. */
  readonly make: (service: Service, key: string, headers?: Readonly<Record<string, string>>) => Surface
}

/** The name of the class of what a promise fails with. */
export const thrownBy = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise
  } catch (error) {
    return error instanceof Error ? error.constructor.name : String(error)
  }
  return "nothing"
}

/** What the service adds to an answer, for which no client has types. */
export const costOf = (answer: unknown): number => (answer as { readonly cost_usd: number }).cost_usd

export const cityOf = (input: unknown): string => weather.parameters.parse(input).city
