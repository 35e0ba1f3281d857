/** How variables of the environment are read, each with what it may be; which there are stands in `Config.ts`. */
import { Config as Source, Data, Duration, Effect, Option, Redacted, Schema } from "effect"
import { domainToASCII } from "node:url"

/** Why the service cannot start, in one line for the person who starts it. Never holds a secret. */
export class StartError extends Data.TaggedError("StartError")<{ readonly message: string }> {}

/** Decodes the text of a variable; `undefined` means that the text is not allowed. */
export type Parse<A> = (text: string) => A | undefined

/** Absent and empty are the same, as in every `.env` file with an unused line. */
export const read = <A>(name: string, allowed: string, parse: Parse<A>): Effect.Effect<A | undefined, StartError> =>
  Source.option(Source.String(name)).pipe(
    Effect.mapError(() => new StartError({ message: `${name} must be ${allowed}` })),
    Effect.flatMap((found) => {
      if (Option.isNone(found) || found.value.trim() === "") return Effect.undefined
      const value = parse(found.value.trim())
      // The text itself stays out of the message: it may be a secret put into the wrong variable.
      return value === undefined
        ? Effect.fail(new StartError({ message: `${name} must be ${allowed}` }))
        : Effect.succeed(value)
    })
  )

/** The same, or what it is where it is absent. */
export const readOr = <A>(name: string, fallback: A, allowed: string, parse: Parse<A>) =>
  Effect.map(read(name, allowed, parse), (value) => value ?? fallback)

/** Digits alone, between these. */
export const wholeNumber =
  (minimum: number, maximum: number): Parse<number> =>
  (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    return value >= minimum && value <= maximum ? value : undefined
  }

/** One of these words, in whatever letters. */
const oneOf =
  <const A extends string>(words: ReadonlyArray<A>): Parse<A> =>
  (text) =>
    words.find((word) => word === text.toLowerCase())

/** A port to listen on. */
export const port = (name: string, fallback: number) =>
  readOr(name, fallback, "a port, a whole number from 0 (any free one) to 65535", wholeNumber(0, 65_535))

/** An address to listen on. */
export const host = (name: string, fallback: string) =>
  readOr(name, fallback, "a host name or an IP address", (text) => (/^[A-Za-z0-9._:-]+$/.test(text) ? text : undefined))

/** What the system says of an address that it does not have, and of a name that nobody knows. */
const NO_ADDRESS: ReadonlySet<string> = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"])

/** Why nothing can be listened on: says which of the two variables is to be another, whose names begin so. */
export const cannotListen = (
  prefix: "" | "OPS_",
  { host, port }: { readonly host: string; readonly port: number },
  code = "unknown error"
): StartError => {
  if (NO_ADDRESS.has(code)) {
    return new StartError({ message: `${prefix}HOST ${host} is no address of this machine (${code})` })
  }
  const why = code === "EADDRINUSE" ? "is in use" : `cannot be listened on (${code})`
  return new StartError({ message: `${prefix}PORT ${port} ${why}` })
}

const decodeDuration = Schema.decodeUnknownOption(Schema.DurationFromString)

/** A timer of Node's that is to wait for 2^31 milliseconds or more strikes at once. */
const LONGEST_WAIT = Duration.days(24)

/** Whole milliseconds, as the database takes them, above zero and up to `longest`. */
export const duration = (name: string, fallback: Duration.Input, longest = LONGEST_WAIT) => {
  const allowed = `a length of time above zero such as "30 seconds", at most ${Duration.toDays(longest)} days`
  return readOr(name, Duration.fromInputUnsafe(fallback), allowed, (text) => {
    const value = Option.getOrUndefined(decodeDuration(text))
    const millis = value === undefined ? Number.NaN : Math.round(Duration.toMillis(value))
    return millis > 0 && millis <= Duration.toMillis(longest) ? Duration.millis(millis) : undefined
  })
}

/** A URL of one of these protocols, with a host. */
export const parseUrl =
  (protocols: ReadonlyArray<string>): Parse<URL> =>
  (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined
    return url !== undefined && protocols.includes(url.protocol) && url.hostname !== "" ? url : undefined
  }

/**
 * What others put their paths behind: an http or https URL, of whose other parts a query would come to stand in the midst of a path,
 * and a user or a password would be sent to nobody.
 */
export const parseBase: Parse<URL> = (text) => {
  const url = parseUrl(["http:", "https:"])(text)
  const isPlain = url?.search === "" && url.hash === "" && url.username === "" && url.password === ""
  return isPlain ? url : undefined
}

/** What such a URL is, in the words of a message. */
export const BASE = "an http or https URL without a query, a user or a password"

/** A URL that may hold a password. */
export const secretUrl = (name: string, allowed: string, protocols: ReadonlyArray<string>) =>
  read(name, allowed, (text) => (parseUrl(protocols)(text) === undefined ? undefined : Redacted.make(text)))

const unescaped = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The URL of a Redis. What its client cannot read would end the start as a fault of the program, which names no variable. */
export const redisUrl = (name: string) =>
  read(name, "a URL such as redis://host:6379, with or without the number of a database as its path", (text) => {
    const url = parseUrl(["redis:", "rediss:"])(text)
    if (url === undefined || !/^\/?\d{0,9}$/.test(url.pathname)) return undefined
    return unescaped(url.username + url.password) === undefined ? undefined : Redacted.make(text)
  })

/** The URL of a mail server. A host that is none, such as 192.0.2.256, would end the start in the same way. */
export const smtpUrl = (name: string) =>
  read(name, "a URL such as smtps://user:password@host:465", (text) => {
    const url = parseUrl(["smtp:", "smtps:"])(text)
    return url === undefined || domainToASCII(url.hostname) === "" ? undefined : Redacted.make(text)
  })

/** A key, or a password. */
export const secret = (name: string) =>
  // A key is sent in a header, where a control character or a line break would break the request.
  read(name, "printable text without spaces", (text) => (/^[\x21-\x7e]+$/.test(text) ? Redacted.make(text) : undefined))

/** One of these words. */
export const words = <const A extends string>(name: string, fallback: A, allowed: ReadonlyArray<A>) =>
  readOr<A>(name, fallback, `one of ${allowed.join(", ")}`, oneOf(allowed))

/** On or off. */
export const flag = (name: string, fallback = false) =>
  readOr(name, fallback, "0 or 1", (text) => ({ "0": false, "1": true, false: false, true: true })[text.toLowerCase()])
