import { Schema } from "effect"

/** A field that may be absent. A null counts as absent. */
export const orNull = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** An object with members of any names and values. */
export const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

/** Returns a number with commas between its thousands. */
export const withCommas = (count: number): string => count.toLocaleString("en-US")

/** The message for a list that must have from `minimum` to `maximum` items, or characters. */
const sizeOf = (minimum: number, maximum: number, unit: "characters" | "items"): string => {
  const least = minimum === maximum ? "" : minimum === 0 ? "at most " : `${withCommas(minimum)} to `
  return `must ${unit === "items" ? "contain" : "have"} ${least}${withCommas(maximum)} ${unit}`
}

/** Checks that an array has at most `maximum` items. */
export const atMost = (maximum: number) =>
  Schema.isMaxLength(maximum, { message: `must contain at most ${withCommas(maximum)} items` })

/** Checks that a string or an array has from `minimum` to `maximum` items. `unit` names them in the message. */
export const sized = (minimum: number, maximum: number, unit: "characters" | "items") =>
  [
    Schema.isMinLength(minimum, { message: sizeOf(minimum, maximum, unit) }),
    Schema.isMaxLength(maximum, { message: sizeOf(minimum, maximum, unit) })
  ] as const

/** An integer within bounds, with a message that names the bounds. */
export const integer = (minimum: number, maximum: number) => {
  const to = maximum === Number.MAX_SAFE_INTEGER ? "" : ` to ${withCommas(maximum)}`
  const message = `must be an integer ${to === "" ? "of at least" : "from"} ${withCommas(minimum)}${to}`
  return Schema.Int.check(Schema.isBetween({ minimum, maximum }, { message }))
}

/** The end of the year 9999, in Unix seconds. Later times have no standard format. */
export const END_OF_TIME = 253_402_300_799

/** A number within bounds, with a message that names the bounds. */
export const between = (minimum: number, maximum: number) =>
  Schema.Finite.check(
    Schema.isBetween(
      { minimum, maximum },
      { message: `must be a number from ${withCommas(minimum)} to ${withCommas(maximum)}` }
    )
  )

/** A whole number of 0 or more. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be an integer of at least 0" }))

/** An amount in US dollars, never negative. */
export const Usd = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0, { message: "must be a number of at least 0" }))

/** A text with at least one character. */
export const NonEmptyText = Schema.String.check(Schema.isMinLength(1, { message: "must be a non-empty string" }))

/** The number of characters of a text as JSON Schema counts them: Unicode code points. */
export const charactersOf = (text: string): number => {
  let characters = 0
  for (const _ of text) characters += 1
  return characters
}

/** A text with a number of characters within bounds, counted as Unicode code points. */
export const textOf = (minimum: number, maximum: number) =>
  Schema.String.check(
    Schema.makeFilter<string>(
      // A code point takes one or two UTF-16 units, so most texts need not be counted.
      (text) => text.length >= minimum && text.length <= 2 * maximum && within(charactersOf(text), minimum, maximum),
      {
        message: sizeOf(minimum, maximum, "characters"),
        toJsonSchema: () => ({ minLength: minimum, maxLength: maximum })
      }
    )
  )

/**
 * OpenAI's metadata: up to 16 pairs of texts, with keys of at most 64 characters and values of at most 512. A record whose keys have a
 * length of their own would call a longer key an unknown field.
 */
export const Metadata = Schema.Record(Schema.String, textOf(0, 512)).check(
  Schema.isMaxProperties(16, { message: "must have at most 16 pairs" }),
  Schema.isPropertyNames(textOf(0, 64), { message: "must have keys of at most 64 characters" })
)

/** A null character or half a surrogate pair as JSON escapes it. */
const unstorable = /(?<!\\)(\\\\)*\\u(0000|d[89a-f])/

/**
 * Whether PostgreSQL can store every text in a JSON value. PostgreSQL rejects a null character. Half a surrogate pair has no UTF-8
 * form, so different ones would become the same.
 */
export const isStorable = (value: unknown): boolean => !unstorable.test(JSON.stringify(value) ?? "")

/** The message for a text that cannot be stored. */
export const STORABLE = "must contain no null characters and no halves of surrogate pairs"

/** Checks that a text can be stored unchanged. For everything in a request that is stored as text. */
export const storable = Schema.makeFilter<string>((text) => !text.includes("\0") && text.isWellFormed(), {
  message: STORABLE
})

const within = (value: number, minimum: number, maximum: number): boolean => value >= minimum && value <= maximum

/** The most characters of a tool's name. Providers take 64 or 128: the gateway shortens a longer name for them, and restores it. */
export const TOOL_NAME_MAX = 256

/** The name of a tool. */
export const ToolName = Schema.String.check(
  Schema.isPattern(new RegExp(`^[a-zA-Z0-9_-]{1,${TOOL_NAME_MAX}}$`), {
    message: `must have 1 to ${TOOL_NAME_MAX} letters, digits, underscores and dashes`
  })
)

/** The most tools that one list of a request may have. OpenAI takes 128 in all: a request for its models alone is refused beyond that. */
export const TOOLS_MAX = 512

/** The highest limit for messages or items that an operator can set. */
export const MESSAGES_MAX = 10_000
