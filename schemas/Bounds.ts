import { Schema } from "effect"

/** Checks that a string or an array has from `minimum` to `maximum` items; `unit` names them in the message. */
export const sized = (minimum: number, maximum: number, unit: "characters" | "items") =>
  [
    Schema.isMinLength(minimum, { message: `${minimum} to ${maximum} ${unit}` }),
    Schema.isMaxLength(maximum, { message: `${minimum} to ${maximum} ${unit}` })
  ] as const

/** An integer within bounds, with a message that says them. */
export const integer = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { message: `an integer from ${minimum} to ${maximum}` }))

/** A number within bounds, with a message that says them. */
export const between = (minimum: number, maximum: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum, maximum }, { message: `a number from ${minimum} to ${maximum}` }))

/** A count of things. */
export const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0, { message: "an integer of at least 0" }))

/** An amount of US dollars that is never negative. */
export const Usd = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0, { message: "a number of at least 0" }))

/** The characters of a text as people and JSON Schema count them: Unicode code points. */
export const charactersOf = (text: string): number => {
  let characters = 0
  for (const _ of text) characters += 1
  return characters
}

/** A text of so many characters, counted as Unicode code points. */
export const textOf = (minimum: number, maximum: number) =>
  Schema.String.check(
    Schema.makeFilter<string>(
      // A code point takes one or two units, so that most texts need not be counted.
      (text) => text.length >= minimum && text.length <= 2 * maximum && within(charactersOf(text), minimum, maximum),
      {
        message: `${minimum} to ${maximum} characters`,
        toJsonSchema: () => ({ minLength: minimum, maxLength: maximum })
      }
    )
  )

const within = (value: number, minimum: number, maximum: number): boolean => value >= minimum && value <= maximum
