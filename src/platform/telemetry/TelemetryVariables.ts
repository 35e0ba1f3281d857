/** Parsers for OpenTelemetry's environment variables. */
import { Redacted } from "effect"
import { type Parse, setting } from "../config/Variables.ts"

const decodedComponent = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** `key=value` pairs as OpenTelemetry writes them: comma-separated, percent-encoded, spaces around them ignored. */
const parsePairs =
  (key: RegExp, value: RegExp): Parse<Readonly<Record<string, string>>> =>
  (text) => {
    const found: Record<string, string> = {}
    for (const pair of text.split(",").map((one) => one.trim())) {
      if (pair === "") continue
      const at = pair.indexOf("=")
      const name = pair.slice(0, at).trim()
      const decoded = decodedComponent(pair.slice(at + 1).trim())
      if (at < 1 || !key.test(name) || decoded === undefined || !value.test(decoded)) return undefined
      found[name] = decoded
    }
    return found
  }

/** A variable with the attributes of a resource. */
export const pairs = (meaning: string) =>
  setting<Readonly<Record<string, string>>>({
    allowed: "a comma-separated list of key=value, percent-encoded",
    parse: parsePairs(/^[\x21-\x7e]+$/, /^/),
    absent: {},
    meaning
  })

/** A variable with the headers of an export, which may contain a key. */
export const headerPairs = (meaning: string) =>
  setting<Redacted.Redacted<Readonly<Record<string, string>>>>({
    allowed: "a comma-separated list of name=value, percent-encoded",
    parse: (text) => {
      const found = parsePairs(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, /^[\x20-\x7e]*$/)(text)
      return found === undefined ? undefined : Redacted.make(found)
    },
    absent: Redacted.make({}),
    isSecret: true,
    meaning
  })

/** The names of samplers that OpenTelemetry specifies. */
export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio"
] as const

/** A variable with a share from 0 to 1. */
export const ratio = (meaning: string) =>
  setting({
    allowed: "a number from 0 to 1",
    parse: (text) => {
      const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN
      return value >= 0 && value <= 1 ? value : undefined
    },
    fallback: "1",
    meaning
  })

/** A variable with provider ids. */
export const providerIds = (meaning: string) =>
  setting<ReadonlyArray<string>>({
    allowed: "a comma-separated list of providers' ids",
    parse: (text) => {
      const ids = text.split(",").map((id) => id.trim())
      return ids.every((id) => /^[A-Za-z0-9._-]+$/.test(id)) ? ids : undefined
    },
    absent: [],
    meaning
  })
