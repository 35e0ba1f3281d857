/** The flags of the commands. The command refuses an invalid value before it opens anything. */
import { Option } from "effect"
import { Flag } from "effect/cli"
import { type Scope, scopes } from "../auth/Scopes.ts"
import { type Nano, NANO_PER_USD, nanoFromUsd } from "../domain/Money.ts"

/** Balances are 64-bit numbers of nano-USD, which hold about nine times this amount. No operator types as much on purpose. */
const MAX_AMOUNT = 1_000_000_000n * NANO_PER_USD

const MAX_SCALE = 1_000_000
const MAX_EMAIL_LENGTH = 254
const MAX_NAME_LENGTH = 256
const MAX_REFERENCE_LENGTH = 200
const MAX_REASON_LENGTH = 500
const MAX_EVENTS = 1_000

const parsed = <A>(name: string, expected: string, parse: (text: string) => A | undefined) =>
  Flag.String(name).pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parse(text.trim())),
      () => expected
    )
  )

const amount = (name: string, expected: string, least: Nano) =>
  parsed(name, `${expected} such as 25 or 0.5, at most nine decimals, up to 1000000000`, (text) => {
    const nano = /^\d+(\.\d{1,9})?$/.test(text) ? nanoFromUsd(text) : undefined
    return nano !== undefined && nano >= least && nano <= MAX_AMOUNT ? nano : undefined
  }).pipe(Flag.withMetavar("usd"))

export const email = parsed("email", "an email address", (text) =>
  text.length <= MAX_EMAIL_LENGTH && /^[^\s@]+@[^\s@]+$/.test(text) ? text : undefined
).pipe(Flag.withMetavar("address"), Flag.withDescription("The account's email address"))

/** In nano-USD; zero is allowed. */
export const balance = amount("balance-usd", "an amount of USD, zero or more,", 0n).pipe(
  Flag.withDescription("The account's initial balance, in USD")
)

/** In nano-USD, above zero. */
export const topUpAmount = amount("amount-usd", "an amount of USD above zero,", 1n).pipe(
  Flag.withDescription("The amount to add, in USD")
)

/** In nano-USD, not zero; below zero it takes from the account. */
export const adjustment = parsed(
  "amount-usd",
  "an amount of USD such as -5 or 0.5, not zero, at most nine decimals, up to 1000000000 either way",
  (text) => {
    const nano = /^-?\d+(\.\d{1,9})?$/.test(text) ? nanoFromUsd(text) : undefined
    return nano !== undefined && nano !== 0n && nano <= MAX_AMOUNT && -nano <= MAX_AMOUNT ? nano : undefined
  }
).pipe(Flag.withMetavar("usd"), Flag.withDescription("The amount to add, or to subtract if negative, in USD"))

const line = (name: string, most: number) =>
  parsed(name, `1 to ${most} printable characters`, (text) =>
    text !== "" && text.length <= most && !/\p{Cc}/u.test(text) ? text : undefined
  )

export const reference = line("reference", MAX_REFERENCE_LENGTH).pipe(
  Flag.withMetavar("text"),
  Flag.withDescription("A unique name for this movement, such as an invoice number; repeating it moves nothing"),
  Flag.optional
)

export const reason = line("reason", MAX_REASON_LENGTH).pipe(
  Flag.withMetavar("text"),
  Flag.withDescription("The reason, for the audit log")
)

export const scale = parsed("scale", `a number above zero, up to ${MAX_SCALE}`, (text) => {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return value > 0 && value <= MAX_SCALE ? value : undefined
}).pipe(
  Flag.withMetavar("number"),
  Flag.withDescription("The factor for every rate limit of the account; 1 is the default")
)

const id = (name: string, expected: string) =>
  parsed(name, `${expected}, 24 hexadecimal characters`, (text) =>
    /^[0-9a-f]{24}$/.test(text) ? text : undefined
  ).pipe(Flag.withMetavar("id"))

export const keyId = id("id", "a key's id").pipe(Flag.withDescription("The key's id, not the key itself"))

export const topUpId = id("id", "a top-up's id").pipe(Flag.withDescription("The top-up's id"))

export const acknowledged = id("acknowledge", "the id of an audit entry").pipe(
  Flag.withDescription("Remove an investigated entry from the pending ones; the entry itself does not change"),
  Flag.optional
)

export const keyName = line("name", MAX_NAME_LENGTH).pipe(
  Flag.withMetavar("name"),
  Flag.withDescription("The key's name in lists"),
  Flag.withDefault("default")
)

export const keyKind = Flag.Literals("kind", ["inference", "management"]).pipe(
  Flag.withDescription("The kind of key"),
  Flag.withDefault("inference")
)

const parseScopes = (text: string): ReadonlyArray<Scope> | undefined => {
  const words = text.split(",").map((word) => word.trim())
  const known = scopes.filter((scope) => words.includes(scope))
  return words.every((word) => known.some((scope) => scope === word)) ? known : undefined
}

export const keyScopes = parsed("scopes", `a comma-separated list of ${scopes.join(", ")}`, parseScopes).pipe(
  Flag.withMetavar("list"),
  Flag.withDescription(`A management key's scopes, comma-separated; by default all of them: ${scopes.join(", ")}`),
  Flag.optional
)

export const events = parsed("limit", `a whole number from 1 to ${MAX_EVENTS}`, (text) => {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  return value >= 1 && value <= MAX_EVENTS ? value : undefined
}).pipe(
  Flag.withMetavar("number"),
  Flag.withDescription("How many of the newest events to show"),
  Flag.withDefault(100)
)

export const pending = Flag.Boolean("pending").pipe(
  Flag.withDescription("Show entries pending for over a minute, of all accounts or of the one given by --email"),
  Flag.withDefault(false)
)
