import { Effect, Result } from "effect"
import type { FieldProblem } from "../../domain/Failure.ts"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"

const FAULTS = [
  "slow",
  "stall",
  "break",
  "empty",
  "rate_limit",
  "error",
  "malformed",
  "wrong_usage",
  "no_usage"
] as const

/** A way in which a double misbehaves. */
export type SandboxFault = (typeof FAULTS)[number]

/** The content of the `X-Svc-Sandbox` header. */
export interface Steering {
  readonly fault: SandboxFault | undefined
  /** Content chunks before a stall or a break. Default: one for a stream, none for a complete answer. */
  readonly after: number | undefined
  /** Only this provider's double misbehaves: `fault`, latencies, `usage=held` and `images` apply only to it. */
  readonly provider: string | undefined
  readonly latencyMs: number | undefined
  readonly chunkMs: number
  readonly outputTokens: number | undefined
  readonly cachedTokens: number
  readonly reasoningTokens: number
  /** Whether to report usage that costs exactly the hold. */
  readonly usageHeld: boolean
  readonly text: string | undefined
  /** The maximum number of images in an answer. */
  readonly images: number | undefined
}

/** A double without steering. */
const noSteering: Steering = {
  fault: undefined,
  after: undefined,
  provider: undefined,
  latencyMs: undefined,
  chunkMs: 0,
  outputTokens: undefined,
  cachedTokens: 0,
  reasoningTokens: 0,
  usageHeld: false,
  text: undefined,
  images: undefined
}

/** The part of the header that applies to the double with this id. An invalid header is a refused request. */
export const steeringOf = (id: string, header: string | undefined): Effect.Effect<Steering, ProviderError> => {
  if (header === undefined) return Effect.succeed(noSteering)
  const read = parseSteering(header)
  if (Result.isFailure(read)) {
    const fault: ProviderFault = { _tag: "Refused", status: 400, detail: read.failure[0].message }
    return Effect.fail(new ProviderError({ provider: id, fault }))
  }
  const steering = read.success
  return Effect.succeed(
    steering.provider === undefined || steering.provider === id
      ? steering
      : { ...steering, fault: undefined, latencyMs: undefined, chunkMs: 0, usageHeld: false, images: undefined }
  )
}

/** How long `fault=slow` delays an answer, in milliseconds. */
export const SLOW_MS = 2_000

/** The fault of `fault=break`. */
export const brokenFault: ProviderFault = { _tag: "Broken", detail: "a simulated loss of the connection" }

/** The fault of `fault=malformed`. */
export const malformedFault: ProviderFault = { _tag: "Malformed", detail: "a simulated answer that is not JSON" }

/** The fault that replaces the whole answer. */
export const faultAtOnce = ({ fault }: Steering): ProviderFault | undefined => {
  if (fault === "rate_limit") return { _tag: "RateLimited", retryAfterSeconds: 1 }
  if (fault === "error") return { _tag: "ServerError", status: 500, detail: "a simulated server error" }
  return fault === "malformed" ? malformedFault : undefined
}

const FIELD = "X-Svc-Sandbox"
const MAX_MS = 600_000
const MAX_COUNT = 10_000_000

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Setter = (into: Mutable<Steering>, value: string) => string | undefined

/** Parses the header, comma-separated `key=value`, and reports everything that is wrong in it. */
export const parseSteering = (
  header: string
): Result.Result<Steering, readonly [FieldProblem, ...ReadonlyArray<FieldProblem>]> => {
  const steering: Mutable<Steering> = { ...noSteering }
  const problems: Array<FieldProblem> = []
  const seen = new Set<string>()
  for (const pair of header.trim() === "" ? [] : header.split(",")) {
    const problem = readPair(steering, seen, pair.trim())
    if (problem !== undefined) problems.push({ field: FIELD, message: problem })
  }
  const [first, ...more] = problems
  return first === undefined ? Result.succeed(steering) : Result.fail([first, ...more])
}

const readPair = (into: Mutable<Steering>, seen: Set<string>, pair: string): string | undefined => {
  const equals = pair.indexOf("=")
  if (equals === -1) return `"${pair}" is not of the form key=value`
  const key = pair.slice(0, equals).trim()
  const set = SETTERS.get(key)
  if (set === undefined) return `"${key}" is not a key; the keys are ${[...SETTERS.keys()].join(", ")}`
  if (seen.has(key)) return `"${key}" is given twice`
  seen.add(key)
  const expected = set(into, pair.slice(equals + 1).trim())
  return expected === undefined ? undefined : `"${key}" must be ${expected}`
}

const count = (max: number, assign: (into: Mutable<Steering>, count: number) => void): Setter => {
  return (into, value) => {
    const parsedNumber = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
    if (!(parsedNumber <= max)) return `a whole number from 0 to ${max}`
    assign(into, parsedNumber)
    return undefined
  }
}

const SETTERS: ReadonlyMap<string, Setter> = new Map<string, Setter>([
  [
    "fault",
    (into, value) => {
      const fault = FAULTS.find((name) => name === value)
      if (fault === undefined) return `one of ${FAULTS.join(", ")}`
      into.fault = fault
      return undefined
    }
  ],
  ["after", count(MAX_COUNT, (into, chunks) => (into.after = chunks))],
  [
    "provider",
    (into, value) => {
      if (!/^[A-Za-z0-9._-]{1,128}$/.test(value)) return "a provider's id"
      into.provider = value
      return undefined
    }
  ],
  ["latency_ms", count(MAX_MS, (into, ms) => (into.latencyMs = ms))],
  ["chunk_ms", count(MAX_MS, (into, ms) => (into.chunkMs = ms))],
  ["output_tokens", count(MAX_COUNT, (into, tokens) => (into.outputTokens = tokens))],
  ["cached_tokens", count(MAX_COUNT, (into, tokens) => (into.cachedTokens = tokens))],
  ["images", count(MAX_COUNT, (into, images) => (into.images = images))],
  ["reasoning_tokens", count(MAX_COUNT, (into, tokens) => (into.reasoningTokens = tokens))],
  [
    "usage",
    (into, value) => {
      if (value !== "held") return "held"
      into.usageHeld = true
      return undefined
    }
  ],
  [
    "text",
    (into, value) => {
      try {
        into.text = decodeURIComponent(value)
        return undefined
      } catch {
        return "URL-encoded text"
      }
    }
  ]
])
