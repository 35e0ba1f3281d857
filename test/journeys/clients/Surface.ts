/** The tasks that the tests give to every official client. */
import { z } from "zod"
import type { Service } from "../../support/Service.ts"

/** The schema of structured output. */
export const Sky = z.object({ sky: z.enum(["clear", "grey"]), degrees: z.number().int() })

/** The parameters of every tool. */
const parameters = z.object({ city: z.enum(["Oslo", "Rome"]) })

/** The tool that every client offers. */
export const weather = {
  name: "weather",
  description: "The weather of a city",
  parameters,
  /** The result of the tool. */
  answer: "minus four"
}

/** A second tool, for parallel calls. */
export const time = { name: "time", description: "The time in a city", parameters }

/** A call of one of the tools. */
export type Called = readonly [tool: string, city: string]

/** A question, and whether its answer is streamed. */
export interface Turn {
  readonly model: string
  readonly text: string
  readonly stream: boolean
}

/** An answer. */
export interface Said {
  readonly text: string
  /** The pieces of a stream; empty for a plain answer. */
  readonly pieces: ReadonlyArray<string>
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

/** An answer with its reasoning. */
export interface Thought {
  readonly thought: string
  readonly text: string
  /** The answer to the next question. */
  readonly next: string
}

/** The next question. */
export const NEXT = "hello again"

/** The facts of a client's error. */
export interface Told {
  /** The name of its class. */
  readonly kind: string
  readonly status: number | undefined
  readonly code: string | undefined
  readonly param: string | null | undefined
}

/** A client package with one of the operations. */
export interface Surface {
  readonly say: (turn: Turn) => Promise<Said>
  /** Runs the tools that the model calls until it answers. Calls `ran` with each city. */
  readonly loop: (turn: Turn, ran: (city: string) => void) => Promise<string>
  /** Offers both tools and returns the calls of the answer. */
  readonly calls: (turn: Turn) => Promise<ReadonlyArray<Called>>
  readonly parse: (turn: Turn) => Promise<unknown>
  /** Asks for reasoning, and asks the next question with the whole answer, including its reasoning. */
  readonly think: (turn: Turn) => Promise<Thought>
  /** Disconnects at the first piece of a stream. Returns the class name of the error. */
  readonly abort: (turn: Omit<Turn, "stream">) => Promise<string>
  readonly told: (error: unknown) => Told
}

export interface SurfaceOf {
  readonly name: string
  /** The name of the error class of a 402. */
  readonly noMoney: string
  /** Makes a client that sends these headers with every request. */
  readonly make: (service: Service, key: string, headers?: Readonly<Record<string, string>>) => Surface
}

/** Returns the class name of the error that a promise fails with. */
export const thrownBy = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise
  } catch (error) {
    return error instanceof Error ? error.constructor.name : String(error)
  }
  return "nothing"
}

/** Returns the cost that the gateway adds to an answer. No client has a type for it. */
export const costOf = (answer: unknown): number => (answer as { readonly cost_usd: number }).cost_usd

export const cityOf = (input: unknown): string => weather.parameters.parse(input).city
