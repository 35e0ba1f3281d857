import { Schema } from "effect"
import { Usd } from "../Bounds.ts"
import { SentCode } from "./SignIn.ts"

const Phone = Schema.String.check(
  Schema.isPattern(/^\+[1-9]\d{6,14}$/, {
    message: "a number as in E.164: a plus, the country and the number, digits alone"
  })
)

/** The telephone that a code is to be sent to. */
export const PhoneRequest = Schema.Struct({ phone: Phone }).annotate({ identifier: "PhoneRequest" })

/** The code that was sent to a telephone. */
export const PhoneCode = Schema.Struct({ phone: Phone, code: SentCode }).annotate({ identifier: "PhoneCode" })

const record = {
  object: Schema.Literal("phone"),
  verified: Schema.Boolean,
  last2: Schema.String,
  /** What the account was given for it: $0.50, once, for a number that nobody was given it for. */
  starter_credit_usd: Usd
}

/** The telephone of an account, of which the service knows the last two digits. */
export const PhoneResult = Schema.Struct({ data: Schema.Struct(record) }).annotate({ identifier: "PhoneResult" })
export type PhoneResult = typeof PhoneResult.Type
