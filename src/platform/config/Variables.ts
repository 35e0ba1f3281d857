/** The kinds of environment variables, and how to read one. `SettingsTable.ts` lists the variables. */
import { Config as Source, Data, Duration, Effect, Option, Redacted, Schema } from "effect"
import { readFileSync, statSync } from "node:fs"
import { domainToASCII } from "node:url"

/** Why the service cannot start, in one line for the operator. Never contains a secret. */
export class StartError extends Data.TaggedError("StartError")<{ readonly message: string }> {}

/** Decodes the text of a variable. `undefined` means that the text is invalid. */
export type Parse<A> = (text: string) => A | undefined

/** One environment variable. `D` is the type of its value when it is absent. */
export interface Setting<A, D = undefined> {
  /** Describes the allowed texts, as the continuation of "must be" in a message. */
  readonly allowed: string
  readonly parse: Parse<A>
  /** The value when the variable is absent or empty. */
  readonly absent: D
  /** The default as documentation shows it; undefined when there is none. */
  readonly shown: string | undefined
  /** One or more sentences for the operator, in Markdown. */
  readonly meaning: string
  /** Whether the value is a secret, which may stand in a file that the variable with the ending `_FILE` names. */
  readonly isSecret: boolean
}

interface Parts<A> {
  readonly allowed: string
  readonly parse: Parse<A>
  readonly meaning: string
  readonly shown?: string
  readonly isSecret?: boolean
}

/**
 * Describes a variable. `fallback` is a text that is parsed when the variable is absent, and `absent` is a value. Without both, an
 * absent variable is undefined.
 */
export function setting<A>(parts: Parts<A> & { readonly fallback: string }): Setting<A, A>
export function setting<A>(parts: Parts<A> & { readonly absent: A }): Setting<A, A>
export function setting<A>(parts: Parts<A>): Setting<A>
export function setting<A>(
  parts: Parts<A> & { readonly fallback?: string; readonly absent?: A }
): Setting<A, A | undefined> {
  const { absent, allowed, fallback, isSecret = false, meaning, parse, shown = fallback } = parts
  return { allowed, parse, meaning, shown, isSecret, absent: fallback === undefined ? absent : parse(fallback) }
}

/** The variable that names the file with a secret, as container engines mount it. */
export const fileVariable = (name: string): string => `${name}_FILE`

/** The largest file that is read as a secret, in bytes. Keys and URLs take a few hundred. */
const MAX_SECRET_FILE_BYTES = 65_536

const refuse = (message: string) => Effect.fail(new StartError({ message }))

/** The text of a variable; undefined when it is absent or empty. */
const textOf = (name: string, allowed: string): Effect.Effect<string | undefined, StartError> =>
  Source.option(Source.String(name)).pipe(
    Effect.mapError(() => new StartError({ message: `${name} must be ${allowed}` })),
    Effect.map((found) => (Option.isNone(found) || found.value.trim() === "" ? undefined : found.value.trim()))
  )

/** The text of the file that this variable names. No message repeats the path, which may be a secret in the wrong variable. */
const contentOf = (name: string, path: string): Effect.Effect<string, StartError> =>
  Effect.suspend(() => {
    try {
      if (statSync(path).size > MAX_SECRET_FILE_BYTES) {
        return refuse(`${name} must name a file of at most ${MAX_SECRET_FILE_BYTES} bytes`)
      }
      const text = readFileSync(path, "utf8").trim()
      return text === ""
        ? refuse(`${name} must name a file with a value in it; the file is empty`)
        : Effect.succeed(text)
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error"
      return refuse(`${name} must be the path of a file that the service can read (${code})`)
    }
  })

/**
 * Reads one variable. Absent and empty are the same, so a `.env` file may contain unused lines. A secret may stand in the file that the
 * variable with the ending `_FILE` names instead.
 */
export const read = <A, D>(
  name: string,
  { absent, allowed, isSecret, parse }: Setting<A, D>
): Effect.Effect<A | D, StartError> =>
  Effect.gen(function* () {
    const text = yield* textOf(name, allowed)
    const file = fileVariable(name)
    const path = isSecret ? yield* textOf(file, "the path of a file") : undefined
    if (text !== undefined && path !== undefined) return yield* refuse(`${file} must not be set together with ${name}`)
    const found = path === undefined ? text : yield* contentOf(file, path)
    if (found === undefined) return absent
    const value = parse(found)
    if (value !== undefined) return value
    // The message omits the text, which may be a secret in the wrong variable.
    return yield* refuse(path === undefined ? `${name} must be ${allowed}` : `${file} must name a file with ${allowed}`)
  })

/** Accepts any text. */
export const anyText: Parse<string> = (text) => text

/** Accepts only digits, for a number within these bounds. */
export const wholeNumber =
  (minimum: number, maximum: number): Parse<number> =>
  (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    return value >= minimum && value <= maximum ? value : undefined
  }

/** Accepts one of these words, in upper or lower case. */
const oneOf =
  <const A extends string>(words: ReadonlyArray<A>): Parse<A> =>
  (text) =>
    words.find((word) => word === text.toLowerCase())

/** A variable with a whole number within bounds. */
export const integer = (fallback: number, minimum: number, maximum: number, meaning: string) =>
  setting({
    allowed: `a whole number from ${minimum} to ${maximum}`,
    parse: wholeNumber(minimum, maximum),
    fallback: String(fallback),
    meaning
  })

/** A variable with a port to listen on. */
export const port = (fallback: number, meaning: string) =>
  setting({
    allowed: "a port, a whole number from 0 (any free one) to 65535",
    parse: wholeNumber(0, 65_535),
    fallback: String(fallback),
    meaning
  })

/** A variable with an address to listen on. */
export const host = (fallback: string, meaning: string) =>
  setting({
    allowed: "a host name or an IP address",
    parse: (text) => (/^[A-Za-z0-9._:-]+$/.test(text) ? text : undefined),
    fallback,
    meaning
  })

/** The system's error codes for an address of another machine and for an unknown name. */
const NO_ADDRESS: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"])

/** Explains why the service cannot listen. The message names the variable to change, which starts with this prefix. */
export const cannotListen = (
  prefix: "" | "OPS_",
  { host, port }: { readonly host: string; readonly port: number },
  code = "unknown error"
): StartError => {
  if (NO_ADDRESS.has(code)) {
    return new StartError({ message: `${prefix}HOST ${host} is not an address of this machine (${code})` })
  }
  const name = `${prefix}PORT`
  const why =
    code === "EADDRINUSE"
      ? `is in use; stop the program that uses it, or set ${name} to another port`
      : `cannot be listened on (${code})`
  return new StartError({ message: `${name} ${port} ${why}` })
}

const decodeDuration = Schema.decodeUnknownOption(Schema.DurationFromString)

/** Node fires a timer of 2^31 milliseconds or more at once. */
const LONGEST_WAIT = Duration.days(24)

/** The longest time a file may be kept. No timer waits for it, but the end must still be a valid date. */
export const LONGEST_RETENTION = Duration.days(36_500)

const lengthOfTime = (least: 0 | 1, fallback: string, meaning: string, longest: Duration.Duration) =>
  setting({
    allowed: `a length of time ${least === 0 ? "of zero or more" : "above zero"} such as "30 seconds", at most ${Duration.toDays(longest)} days`,
    parse: (text) => {
      const value = text === "0" ? Duration.zero : Option.getOrUndefined(decodeDuration(text))
      const millis = value === undefined ? Number.NaN : Math.round(Duration.toMillis(value))
      return millis >= least && millis <= Duration.toMillis(longest) ? Duration.millis(millis) : undefined
    },
    fallback,
    meaning
  })

/** A variable with a duration in whole milliseconds, which is the database's precision, above zero and up to `longest`. */
export const duration = (fallback: string, meaning: string, longest = LONGEST_WAIT) =>
  lengthOfTime(1, fallback, meaning, longest)

/** A variable with a duration in whole milliseconds. `0` without a unit is allowed. */
export const durationOrZero = (fallback: string, meaning: string, longest = LONGEST_WAIT) =>
  lengthOfTime(0, fallback, meaning, longest)

/** Accepts a URL with one of these protocols and a host. */
export const parseUrl =
  (protocols: ReadonlyArray<string>): Parse<URL> =>
  (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    return url !== undefined && protocols.includes(url.protocol) && url.hostname !== "" ? url : undefined
  }

const HOSTS_IN_URL = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s

/** Divides a URL into one for each of its hosts. A URL with one host stays as it is. Removes `target_session_attrs`, which is implied. */
export const urlsOf = (text: string): ReadonlyArray<string> => {
  const [, before = "", hosts = "", after = ""] = HOSTS_IN_URL.exec(text) ?? []
  if (!hosts.includes(",")) return [text]
  const rest = after.replace(/([?&])target_session_attrs=read-write(&|$)/, (_, first: string, last: string) =>
    last === "&" ? first : ""
  )
  return hosts.split(",").map((host) => `${before}${host}${rest}`)
}

/**
 * Parses a base URL, to which paths are appended. It must have no query, which would end up inside the path, and no user or password,
 * which would not be sent.
 */
export const parseBase: Parse<URL> = (text) => {
  const url = parseUrl(["http:", "https:"])(text)
  const isPlain = url?.search === "" && url.hash === "" && url.username === "" && url.password === ""
  return isPlain ? url : undefined
}

/** Describes such a base URL, for messages. */
export const BASE = "an http or https URL without a query, a user or a password"

/** A variable with a base URL, to which paths are appended. */
export function baseUrl(meaning: string, fallback: string): Setting<URL, URL>
export function baseUrl(meaning: string): Setting<URL>
export function baseUrl(meaning: string, fallback?: string): Setting<URL, URL | undefined> {
  const parts = { allowed: BASE, parse: parseBase, meaning }
  return fallback === undefined ? setting(parts) : setting({ ...parts, fallback })
}

/** A variable with a URL that may contain a password. */
export const secretUrl = (allowed: string, protocols: ReadonlyArray<string>, meaning: string) =>
  setting({
    allowed,
    parse: (text) =>
      urlsOf(text).every((url) => parseUrl(protocols)(url) !== undefined) ? Redacted.make(text) : undefined,
    isSecret: true,
    meaning
  })

const unescaped = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * A variable with the URL of a Redis server. The Redis client reports an unreadable URL as a defect without the variable's name, so the
 * URL is checked here.
 */
export const redisUrl = (meaning: string) =>
  setting({
    allowed: "a URL such as redis://host:6379, with or without the number of a database as its path",
    parse: (text) => {
      const url = parseUrl(["redis:", "rediss:"])(text)
      if (url === undefined || !/^\/?\d{0,9}$/.test(url.pathname)) return undefined
      return unescaped(url.username + url.password) === undefined ? undefined : Redacted.make(text)
    },
    isSecret: true,
    meaning
  })

/** A variable with the URL of a mail server. An invalid host such as 192.0.2.256 would otherwise be a defect in the same way. */
export const smtpUrl = (meaning: string) =>
  setting({
    allowed: "a URL such as smtps://user:password@host:465",
    parse: (text) => {
      const url = parseUrl(["smtp:", "smtps:"])(text)
      return url === undefined || domainToASCII(url.hostname) === "" ? undefined : Redacted.make(text)
    },
    isSecret: true,
    meaning
  })

/** A variable with a key or a password. */
export const secret = (meaning: string) =>
  setting({
    // A key is sent in a header, which a control character or a line break would break.
    allowed: "printable text without spaces",
    parse: (text) => (/^[\x21-\x7e]+$/.test(text) ? Redacted.make(text) : undefined),
    isSecret: true,
    meaning
  })

/** A variable with one of these words. */
export const words = <const A extends string>(
  fallback: NoInfer<A>,
  allowed: ReadonlyArray<A>,
  meaning: string,
  shown: string = fallback
) => setting<A>({ allowed: `one of ${allowed.join(", ")}`, parse: oneOf(allowed), fallback, meaning, shown })

/** A variable that is on or off. */
export const flag = (fallback: "0" | "1", meaning: string) =>
  setting({
    allowed: "0 or 1",
    parse: (text) => ({ "0": false, "1": true, false: false, true: true })[text.toLowerCase()],
    fallback,
    meaning
  })
