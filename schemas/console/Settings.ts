import { Schema } from "effect"
import { sized, storable, textOf } from "../Bounds.ts"
import { Email, SentCode } from "./SignIn.ts"

/** The new address of an account, which receives a code. */
export const EmailRequest = Schema.Struct({ email: Email }).annotate({ identifier: "EmailRequest" })

/** The code that was sent to the new address. */
export const EmailCode = Schema.Struct({ email: Email, code: SentCode }).annotate({ identifier: "EmailCode" })

/** A code was sent to the new address. The account keeps its present address until the code is verified. */
export const EmailSent = Schema.Struct({
  data: Schema.Struct({
    object: Schema.Literal("email"),
    /** The new address. */
    email: Schema.String,
    status: Schema.Literal("code_sent"),
    /** How long the code is valid, in seconds. */
    expires_in: Schema.Int,
    /** The code itself, only from a sandbox without a mail server. */
    sandbox_code: Schema.optionalKey(SentCode)
  })
}).annotate({ identifier: "EmailSent" })
export type EmailSent = typeof EmailSent.Type

/** The address of the account was changed. The former address gets a notification. */
export const EmailChanged = Schema.Struct({
  data: Schema.Struct({
    object: Schema.Literal("email"),
    /** The new address. */
    email: Schema.String,
    status: Schema.Literal("changed"),
    /** How many other sessions ended. The session that asked stays. */
    sessions_ended: Schema.Int
  })
}).annotate({ identifier: "EmailChanged" })
export type EmailChanged = typeof EmailChanged.Type

const choices = {
  /** The balance fell below $5.00. */
  low_balance: Schema.Boolean,
  /** A key or a project has spent 80% or 100% of its budget. */
  budget_alert: Schema.Boolean,
  /** The gateway disabled a webhook endpoint because it kept failing, or answered 410. */
  webhook_disabled: Schema.Boolean,
  /** A sign-in from a browser or an address that the account was not used from for 90 days. */
  sign_in: Schema.Boolean,
  /** A key was created, rotated or revoked. */
  key_change: Schema.Boolean
}

/** The notifications that the owner gets by email. All are on until the owner declines them. A change of the address is always sent. */
export const NotificationChoices = Schema.Struct({
  data: Schema.Struct({ object: Schema.Literal("notifications"), ...choices })
}).annotate({ identifier: "NotificationChoices" })
export type NotificationChoices = typeof NotificationChoices.Type

/** Choices to change. Absent ones stay as they are. */
export const NotificationChange = Schema.Struct({
  low_balance: Schema.optionalKey(choices.low_balance),
  budget_alert: Schema.optionalKey(choices.budget_alert),
  webhook_disabled: Schema.optionalKey(choices.webhook_disabled),
  sign_in: Schema.optionalKey(choices.sign_in),
  key_change: Schema.optionalKey(choices.key_change)
}).annotate({ identifier: "NotificationChange" })

/** A text of one line, which is printed as it is. */
const line = (maximum: number) =>
  textOf(1, maximum)
    .check(storable)
    .check(
      Schema.isPattern(/^(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}]*$/u, {
        message: "must be one line with a character that is not a space"
      })
    )

/** One line of 1 to 200 characters. */
const CompanyName = line(200)

/** The postal address: at most 6 lines of 1 to 100 characters. */
const AddressLines = Schema.Array(line(100)).check(...sized(0, 6, "items"))

/** A VAT number or another tax id: 4 to 32 characters, which are letters and digits in groups. */
const TaxId = Schema.String.check(
  Schema.isPattern(/^(?=.{4,32}$)[A-Za-z0-9]+(?:[ ./-][A-Za-z0-9]+)*$/, {
    message: "must have 4 to 32 letters and digits, in groups that a space, a dot, a slash or a dash separates"
  })
)

/** The company behind the account, as its statements name it. */
export const BillingDetailsReport = Schema.Struct({
  data: Schema.Struct({
    object: Schema.Literal("billing_details"),
    /** The name of the company; null without one. */
    company_name: Schema.NullOr(Schema.String),
    /** The postal address, a line each. */
    address_lines: Schema.Array(Schema.String),
    /** A VAT number or another tax id, as the owner wrote it. The gateway does not check that it exists. */
    tax_id: Schema.NullOr(Schema.String)
  })
}).annotate({ identifier: "BillingDetailsReport" })
export type BillingDetailsReport = typeof BillingDetailsReport.Type

/** Details to change. Absent fields stay as they are; null removes one. */
export const BillingDetailsChange = Schema.Struct({
  company_name: Schema.optionalKey(Schema.NullOr(CompanyName)),
  address_lines: Schema.optionalKey(AddressLines),
  tax_id: Schema.optionalKey(Schema.NullOr(TaxId))
}).annotate({ identifier: "BillingDetailsChange" })
