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
