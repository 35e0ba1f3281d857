import { Effect } from "effect"
import { Owner } from "../../../../schemas/Access.ts"
import { PhoneCode, PhoneRequest, type PhoneResult } from "../../../../schemas/console/Phone.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Phones, type SentCode, type VerifiedPhone } from "../../../billing/Phones.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { usdFromNano } from "../../../domain/Money.ts"
import { readJson } from "../../edge/Body.ts"
import { Exchange } from "../../edge/Exchange.ts"
import { asOwner, makeMutate } from "../management/Answers.ts"
import { operations } from "../../edge/Operations.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"

const decodeRequest = decoder(PhoneRequest, { strict: true })
const decodeCode = decoder(PhoneCode, { strict: true })

const sentTo = ({ last2, printedCode }: SentCode): PhoneResult => ({
  data: {
    object: "phone",
    verified: false,
    last2,
    starter_credit_usd: 0,
    ...(printedCode === undefined ? {} : { sandbox_code: printedCode })
  }
})

const verifiedAs = ({ credited, last2 }: VerifiedPhone): PhoneResult => ({
  data: { object: "phone", verified: true, last2, starter_credit_usd: usdFromNano(credited) }
})

/**
 * `/console/phone`: the phone number of an account. Text messages are sent, and codes checked, before the result is written. A sent or
 * approved code is recorded even if the client disconnects meanwhile, because neither can be repeated. Both take a few seconds at most.
 */
export const consolePhoneHandlers = Effect.gen(function* () {
  const mutate = makeMutate(yield* Mutations)
  const phones = yield* Phones

  const send = Effect.fnUntraced(function* (request: ApiRequest, phone: string) {
    const { address } = yield* Exchange
    const { accountId: id } = yield* Owner
    const noted = yield* phones.begin({ ...(yield* asOwner), phone }, address())
    const write = { request, type: "phone.code_sent", resource: { type: "account", id }, repeatable: true } as const
    return yield* mutate(asOwner, write, () => Effect.map(noted, sentTo))
  })

  const verify = Effect.fnUntraced(function* (request: ApiRequest, { code, phone }: typeof PhoneCode.Type) {
    const { accountId: id } = yield* Owner
    const verified = yield* phones.verify({ ...(yield* asOwner), phone }, code)
    const write = { request, type: "phone.verified", resource: { type: "account", id }, repeatable: true } as const
    return yield* mutate(asOwner, write, () => Effect.map(verified, verifiedAs))
  })

  return operations("consolePhone", {
    sendCode: ({ request }) =>
      Effect.gen(function* () {
        const { phone } = yield* Effect.fromResult(decodeRequest(yield* readJson(request)))
        return yield* Effect.uninterruptible(send(request, phone))
      }),
    verifyPhone: ({ request }) =>
      Effect.gen(function* () {
        const sent = yield* Effect.fromResult(decodeCode(yield* readJson(request)))
        return yield* Effect.uninterruptible(verify(request, sent))
      })
  })
})
