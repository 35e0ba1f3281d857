/** Says why a top-up needs an operator. The tooltip keeps the gateway's own text. */
import { money } from "../format/Money.ts"

const ANOTHER = /^another checkout was paid for it: (.+)$/
const AMOUNTS = /^paid (\d+|null) (\w+) instead of (\d+) usd/

/** Whether a second checkout was paid for a top-up that was paid before. */
export const isPaidTwice = (attention: string | null): boolean => attention !== null && ANOTHER.test(attention)

/** The reason as a sentence with formatted amounts. */
export const attentionWords = (attention: string): string => {
  const [, other] = ANOTHER.exec(attention) ?? []
  if (other !== undefined) return `Another checkout was paid: ${other}`
  const [, paid, currency, wanted] = AMOUNTS.exec(attention) ?? []
  if (paid !== undefined && wanted !== undefined) {
    const paidAmount =
      currency === "usd" ? money(Number(paid) / 100) : `${paid} ${currency?.toUpperCase()} (smallest unit)`
    return `Paid ${paidAmount} instead of ${money(Number(wanted) / 100)}`
  }
  if (attention === "charge.refunded") return "The processor reports a refund"
  if (attention.startsWith("charge.dispute.")) return `The payment is disputed (${attention.slice("charge.".length)})`
  return attention.charAt(0).toUpperCase() + attention.slice(1)
}
