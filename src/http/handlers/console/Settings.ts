import { Duration, Effect } from "effect"
import { Owner } from "../../../../schemas/Access.ts"
import {
  BillingDetailsChange,
  type BillingDetailsReport,
  type EmailChanged,
  EmailCode,
  EmailRequest,
  type EmailSent,
  NotificationChange,
  type NotificationChoices
} from "../../../../schemas/console/Settings.ts"
import { Audit } from "../../../account/Audit.ts"
import { BillingDetails } from "../../../account/BillingDetails.ts"
import type { BillingDetailsRow } from "../../../account/BillingDetailsSql.ts"
import { CODE_LIFE } from "../../../account/Codes.ts"
import { differences } from "../../../account/Differences.ts"
import { type ChangedEmail, EmailChange, type EmailClaim, type SentEmailCode } from "../../../account/EmailChange.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { type NotificationChoices as Choices, Notifications } from "../../../notifications/Notifications.ts"
import { readJson } from "../../edge/Body.ts"
import { Exchange } from "../../edge/Exchange.ts"
import { answer, asOwner, makeMutate } from "../management/Answers.ts"
import { operations } from "../../edge/Operations.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"

const decodeEmail = decoder(EmailRequest, { strict: true })
const decodeCode = decoder(EmailCode, { strict: true })
const decodeChoices = decoder(NotificationChange, { strict: true })
const decodeDetails = decoder(BillingDetailsChange, { strict: true })

const sentTo = ({ email, printedCode }: SentEmailCode): EmailSent => ({
  data: {
    object: "email",
    email,
    status: "code_sent",
    expires_in: Duration.toSeconds(CODE_LIFE),
    ...(printedCode === undefined ? {} : { sandbox_code: printedCode })
  }
})

const changedTo = ({ email, ended }: ChangedEmail): EmailChanged => ({
  data: { object: "email", email, status: "changed", sessions_ended: ended }
})

const choicesOf = (choices: Choices): NotificationChoices => ({ data: { object: "notifications", ...choices } })

const detailsOf = (row: BillingDetailsRow): BillingDetailsReport => ({ data: { object: "billing_details", ...row } })

const claimOf = (to: string) =>
  Effect.gen(function* () {
    const { accountId, email: from, sessionId } = yield* Owner
    return { ...(yield* asOwner), accountId, sessionId, from, to } satisfies EmailClaim
  })

/**
 * `/console/email`, `/console/notifications` and `/console/billing-details`: what an owner sets for the account. A code that was sent is
 * recorded even if the client disconnects meanwhile, because sending cannot be undone.
 */
export const consoleSettingsHandlers = Effect.gen(function* () {
  const audit = yield* Audit
  const details = yield* BillingDetails
  const emails = yield* EmailChange
  const mutate = makeMutate(yield* Mutations)
  const notifications = yield* Notifications

  const sendCode = Effect.fnUntraced(function* (request: ApiRequest, to: string) {
    const { address } = yield* Exchange
    const claim = yield* claimOf(to)
    const noted = yield* emails.request(claim, address())
    const resource = { type: "account", id: claim.accountId }
    const write = { request, type: "email.code_sent", resource, repeatable: true } as const
    return yield* mutate(asOwner, write, () => Effect.map(noted, sentTo))
  })

  const verify = Effect.fnUntraced(function* (request: ApiRequest, { code, email }: typeof EmailCode.Type) {
    const claim = yield* claimOf(email)
    const changed = yield* emails.verify(claim, code)
    const resource = { type: "account", id: claim.accountId }
    const write = { request, type: "email.changed", resource, repeatable: true } as const
    return yield* mutate(asOwner, write, () => Effect.map(changed, changedTo))
  })

  const choose = Effect.fnUntraced(function* (request: ApiRequest) {
    const body = yield* readJson(request)
    const changes = yield* Effect.fromResult(decodeChoices(body))
    const { accountId: id } = yield* Owner
    const write = { request, body, type: "notifications.changed", resource: { type: "account", id } }
    return yield* mutate(asOwner, write, ({ accountId, actor }) =>
      Effect.gen(function* () {
        const { after, before } = yield* notifications.choose(accountId, changes)
        const { resource, type } = write
        yield* audit.append({ accountId, actor, type, resource, changes: differences(before, after) })
        return choicesOf(after)
      })
    )
  })

  const describe = Effect.fnUntraced(function* (request: ApiRequest) {
    const body = yield* readJson(request)
    const change = yield* Effect.fromResult(decodeDetails(body))
    const { accountId: id } = yield* Owner
    const write = { request, body, type: "billing_details.changed", resource: { type: "account", id } }
    return yield* mutate(asOwner, write, (caller) => Effect.map(details.change({ ...caller, change }), detailsOf))
  })

  return operations("consoleSettings", {
    requestEmail: ({ request }) =>
      Effect.gen(function* () {
        const { email } = yield* Effect.fromResult(decodeEmail(yield* readJson(request)))
        return yield* Effect.uninterruptible(sendCode(request, email))
      }),
    verifyEmail: ({ request }) =>
      Effect.gen(function* () {
        const sent = yield* Effect.fromResult(decodeCode(yield* readJson(request)))
        return yield* Effect.uninterruptible(verify(request, sent))
      }),
    getNotifications: () =>
      answer(
        Effect.flatMap(Owner, ({ accountId }) => notifications.choices(accountId)),
        choicesOf
      ),
    updateNotifications: ({ request }) => choose(request),
    getBillingDetails: () =>
      answer(
        Effect.flatMap(Owner, ({ accountId }) => details.of(accountId)),
        detailsOf
      ),
    updateBillingDetails: ({ request }) => describe(request)
  })
})
