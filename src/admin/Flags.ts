/** The flags and arguments of the commands. The command refuses an invalid value before it opens anything. */
import { Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { type Scope, scopes } from "../auth/Scopes.ts"
import { MARKUP_BOUNDS } from "../domain/Pricing.ts"
import { type Nano, NANO_PER_USD, nanoFromUsd } from "../domain/Money.ts"
import { isDay } from "../domain/Day.ts"
import { type MarginDimension, marginDimensions } from "../usage/MarginsSql.ts"
import { accountStates } from "../operator/OperatorSql.ts"

/** The maximum amount of a flag. A balance, a 64-bit number of nano-USD, holds nine times as much. A larger amount is a typing error. */
const MAX_AMOUNT = 1_000_000_000n * NANO_PER_USD

/** The largest top-up. */
const MAX_TOP_UP = 10_000n * NANO_PER_USD

const MAX_SCALE = 1_000_000
const MAX_EMAIL_LENGTH = 254
const MAX_NAME_LENGTH = 256
const MAX_REFERENCE_LENGTH = 200
const MAX_REASON_LENGTH = 500
const MAX_ROWS = 1_000

/** Describes a flag and how to parse it. When `parse` returns undefined, the command fails with the expected form. */
export const parsed = <A>(name: string, expected: string, parse: (text: string) => A | undefined) =>
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

const emailOf = (text: string): string | undefined =>
  text.length <= MAX_EMAIL_LENGTH && /^[^\s@]+@[^\s@]+$/.test(text) ? text : undefined

const idOf = (text: string): string | undefined => (/^[0-9a-f]{24}$/.test(text) ? text : undefined)

const requestIdOf = (text: string): string | undefined => (/^req_[0-9A-HJKMNP-TV-Z]{26}$/.test(text) ? text : undefined)

/** Describes a required argument with one form, and how to parse it. */
export const argument = <A>(name: string, expected: string, parse: (text: string) => A | undefined) =>
  Argument.String(name).pipe(
    Argument.filterMap(
      (text) => Option.fromUndefinedOr(parse(text.trim())),
      () => expected
    )
  )

/** The address of an account that does not exist yet. */
export const newEmail = parsed("email", "an email address", emailOf).pipe(
  Flag.withMetavar("address"),
  Flag.withDescription("The account's email address")
)

const ACCOUNT = "an account's id or email address"

/** The account of a command that moves money or makes keys. `--account` is the same flag. */
export const email = parsed("email", ACCOUNT, (text) => idOf(text) ?? emailOf(text)).pipe(
  Flag.withAlias("account"),
  Flag.withMetavar("account"),
  Flag.withDescription("The account's email address or id")
)

/** The account as the only argument of a command. */
export const accountArgument = argument("account", ACCOUNT, (text) => idOf(text) ?? emailOf(text)).pipe(
  Argument.withDescription("The account's id or email address")
)

/** The account of a command that reads. `--email` is the same flag. */
export const accountFlag = parsed("account", ACCOUNT, (text) => idOf(text) ?? emailOf(text)).pipe(
  Flag.withAlias("email"),
  Flag.withMetavar("account"),
  Flag.withDescription("The account's id or email address")
)

export const keyArgument = argument("key", "a key's id, 24 hexadecimal characters", idOf).pipe(
  Argument.withDescription("The key's id, not the key itself"),
  Argument.optional
)

export const exportDay = parsed("day", "a day such as 2026-01-31", (text) => (isDay(text) ? text : undefined)).pipe(
  Flag.withMetavar("day"),
  Flag.withDescription("The day, in UTC, by the arrival of requests")
)

export const exportTo = Flag.String("to").pipe(
  Flag.withMetavar("directory"),
  Flag.withDescription(
    "Where the files go: a directory, which is created, or s3://bucket/prefix in the store of S3_BUCKET"
  )
)

export const backupFile = Argument.String("file").pipe(Argument.withDescription("The path of the backup"))

export const withFiles = Flag.Boolean("with-files").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Include the files of accounts and the secrets key, as far as DATA_DIR has them"),
  Flag.withDefault(false)
)

export const serviceRole = parsed("service-role", "the name of a database role, at most 63 characters", (text) =>
  text.length > 0 && text.length < 64 ? text : undefined
).pipe(
  Flag.withMetavar("role"),
  Flag.withDescription("An existing role of the database, which gets the rights that a gateway needs and no others")
)

export const whole = Flag.Boolean("whole").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Read everything although a checkpoint exists, and compare both"),
  Flag.withDefault(false)
)

export const forgetCheckpoint = Flag.Boolean("forget-checkpoint").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Read everything and replace the checkpoint, after the books were corrected behind it"),
  Flag.withDefault(false)
)

const REQUEST = "a request's id, such as req_01K0ABCDEFGHJKMNPQRSTVWXYZ"

export const requestArgument = argument("request", REQUEST, requestIdOf).pipe(
  Argument.withDescription("The request's id")
)

export const requestsAfter = parsed("after", REQUEST, requestIdOf).pipe(
  Flag.withMetavar("id"),
  Flag.withDescription("Show requests older than this one"),
  Flag.optional
)

/** An amount of zero or more, in nano-USD. */
export const balance = amount("balance-usd", "an amount of USD, zero or more,", 0n).pipe(
  Flag.withDescription("The account's initial balance, in USD")
)

/** An amount above zero, in nano-USD. */
export const topUpAmount = amount("amount-usd", "an amount of USD above zero,", 1n).pipe(
  Flag.withDescription("The amount to add, in USD")
)

/** An amount above zero, in nano-USD. Without it, the refund gives back everything that is left. */
export const refundAmount = amount("amount-usd", "an amount of USD above zero,", 1n).pipe(
  Flag.withDescription("The amount to give back, in USD; by default everything that is left of the cost"),
  Flag.optional
)

/** An amount other than zero, in nano-USD. Below zero it takes money from the account. */
export const adjustment = parsed(
  "amount-usd",
  "an amount of USD such as -5 or 0.5, not zero, at most nine decimals, up to 1000000000 either way",
  (text) => {
    const nano = /^-?\d+(\.\d{1,9})?$/.test(text) ? nanoFromUsd(text) : undefined
    return nano !== undefined && nano !== 0n && nano <= MAX_AMOUNT && -nano <= MAX_AMOUNT ? nano : undefined
  }
).pipe(Flag.withMetavar("usd"), Flag.withDescription("The amount to add, or to subtract if negative, in USD"))

/** A flag with one line of text. */
export const line = (name: string, most: number) =>
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

export const markup = parsed(
  "percent",
  `a number from ${MARKUP_BOUNDS.minimum / 100} to ${MARKUP_BOUNDS.maximum / 100} with at most two decimals`,
  (text) => {
    const points = /^-?\d{1,4}(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : Number.NaN
    return points >= MARKUP_BOUNDS.minimum && points <= MARKUP_BOUNDS.maximum ? points : undefined
  }
).pipe(
  Flag.withMetavar("percent"),
  Flag.withDescription("What the account pays beyond the catalogue's prices, in percent; 0 is the default")
)

const id = (name: string, expected: string) =>
  parsed(name, `${expected}, 24 hexadecimal characters`, idOf).pipe(Flag.withMetavar("id"))

export const keyId = id("id", "a key's id").pipe(Flag.withDescription("The same as the argument"), Flag.optional)

export const operatorKeyArgument = argument("key", "a key's id, 24 hexadecimal characters", idOf).pipe(
  Argument.withDescription("The operator key's id, not the key itself")
)

const MAX_EXPIRY_DAYS = 3_660

export const expiresInDays = parsed("expires-in-days", `a whole number from 1 to ${MAX_EXPIRY_DAYS}`, (text) => {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  return days >= 1 && days <= MAX_EXPIRY_DAYS ? days : undefined
}).pipe(
  Flag.withMetavar("days"),
  Flag.withDescription("The days after which the key expires; by default it does not"),
  Flag.optional
)

export const accountsAfter = id("after", "an account's id").pipe(
  Flag.withDescription("Show accounts older than this one"),
  Flag.optional
)

export const topUpId = id("id", "a top-up's id").pipe(Flag.withDescription("The top-up's id"))

export const topUpArgument = argument("top-up", "a top-up's id, 24 hexadecimal characters", idOf).pipe(
  Argument.withDescription("The top-up's id")
)

/** An amount of whole cents above zero, in nano-USD. */
export const settledAmount = parsed(
  "amount-usd",
  "an amount of USD from 0.01 to 10000, such as 25 or 24.99",
  (text) => {
    const nano = /^\d+(\.\d{1,2})?$/.test(text) ? nanoFromUsd(text) : undefined
    return nano !== undefined && nano > 0n && nano <= MAX_TOP_UP ? nano : undefined
  }
).pipe(
  Flag.withMetavar("usd"),
  Flag.withDescription("The amount to credit or to take back, in USD; by default what the top-up says"),
  Flag.optional
)

export const ofOperators = Flag.Boolean("operators").pipe(
  Flag.withoutNegation,
  Flag.withDescription(
    "Show changes by operators that concern no single account, such as price plans and spend bounds"
  ),
  Flag.withDefault(false)
)

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

const most = (what: string, usual: number) =>
  parsed("limit", `a whole number from 1 to ${MAX_ROWS}`, (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    return value >= 1 && value <= MAX_ROWS ? value : undefined
  }).pipe(
    Flag.withMetavar("number"),
    Flag.withDescription(`How many of the newest ${what} to show`),
    Flag.withDefault(usual)
  )

export const events = most("events", 100)

export const accounts = most("accounts", 50)

export const requests = most("requests", 50)

export const topUps = most("top-ups", 50)

export const search = line("search", MAX_NAME_LENGTH).pipe(
  Flag.withMetavar("text"),
  Flag.withDescription("Show accounts whose email address contains this text or whose id starts with it"),
  Flag.optional
)

export const accountState = Flag.Literals("state", accountStates).pipe(
  Flag.withDescription("Show accounts in this state"),
  Flag.optional
)

export const requestStatus = Flag.Literals("status", ["open", "succeeded", "failed", "cancelled"]).pipe(
  Flag.withDescription("Show requests with this status"),
  Flag.optional
)

export const model = line("model", MAX_NAME_LENGTH).pipe(
  Flag.withMetavar("model"),
  Flag.withDescription("Show requests for this model, requested or served"),
  Flag.optional
)

const hours: Readonly<Record<string, number>> = { h: 1, d: 24 }

export const since = parsed("since", "a time such as 2026-01-31, 2026-01-31T12:00:00Z, 36h or 7d", (text) => {
  const [, count, unit = ""] = /^(\d{1,5})([hd])$/.exec(text) ?? []
  if (count !== undefined) return new Date(Date.now() - Number(count) * (hours[unit] ?? 0) * 3_600_000)
  const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text) ? new Date(text) : undefined
  return time === undefined || Number.isNaN(time.getTime()) ? undefined : time
}).pipe(
  Flag.withMetavar("time"),
  Flag.withDescription("Show requests since this time (UTC without a zone), or since so many hours or days ago"),
  Flag.optional
)

export const pending = Flag.Boolean("pending").pipe(
  Flag.withDescription("Show entries pending for over a minute, of all accounts or of the one given by --email"),
  Flag.withDefault(false)
)

const day = (name: string, description: string) =>
  parsed(name, "a day such as 2026-01-31", (text) => (isDay(text) ? text : undefined)).pipe(
    Flag.withMetavar("day"),
    Flag.withDescription(description),
    Flag.optional
  )

export const reportFrom = day("from", "The first day of the report, in UTC; by default 29 days before the last")

export const reportTo = day("to", "The last day of the report, in UTC; by default today")

const groups = Object.keys(marginDimensions) as ReadonlyArray<MarginDimension>

export const reportBy = parsed("by", `a comma-separated list of ${groups.join(", ")}`, (text) => {
  const words = text.split(",").map((word) => word.trim())
  const known = words.flatMap((word) => groups.filter((group) => group === word))
  return known.length === words.length && new Set(known).size === known.length ? known : undefined
}).pipe(
  Flag.withMetavar("list"),
  Flag.withDescription(`What to group by, comma-separated: ${groups.join(", ")}`),
  Flag.withDefault<ReadonlyArray<MarginDimension>>(["day"])
)

export const reportPlay = Flag.Boolean("play").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Report requests paid with the sandbox's simulated money instead of real money"),
  Flag.withDefault(false)
)

export const csv = Flag.Boolean("csv").pipe(
  Flag.withoutNegation,
  Flag.withDescription("Print comma-separated values with a header line"),
  Flag.withDefault(false)
)
