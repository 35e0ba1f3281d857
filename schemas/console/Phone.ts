import { Schema } from "effect"
import { Usd } from "../Bounds.ts"
import { SentCode } from "./SignIn.ts"

/** In E.164 form, such as `+4915123456789`. */
const Phone = Schema.String.check(
  Schema.isPattern(/^\+[1-9]\d{6,14}$/, {
    message: "must be an E.164 phone number: a plus sign, the country code and the number, digits only"
  })
)

/** The phone number that should receive a code. */
export const PhoneRequest = Schema.Struct({ phone: Phone }).annotate({ identifier: "PhoneRequest" })

/** The code that was sent to a phone number. */
export const PhoneCode = Schema.Struct({ phone: Phone, code: SentCode }).annotate({ identifier: "PhoneCode" })

const record = {
  object: Schema.Literal("phone"),
  /** Whether the number is verified. */
  verified: Schema.Boolean,
  /** The last two digits of the number. */
  last2: Schema.String,
  /** The starter credit for the number: $0.50, once per account and once per number. */
  starter_credit_usd: Usd,
  /** The code that was sent, only from a sandbox without Twilio. The credit for such a code is simulated money. */
  sandbox_code: Schema.optionalKey(SentCode)
}

/** The phone number of an account. The service stores its last two digits. */
export const PhoneResult = Schema.Struct({ data: Schema.Struct(record) }).annotate({ identifier: "PhoneResult" })
export type PhoneResult = typeof PhoneResult.Type
