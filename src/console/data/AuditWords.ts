/** The events of an audit log in words: names, and values with their units. */
import type { AuditLog } from "../../client/Contract.ts"
import { count, lasting, moment, signedPercent } from "../format/Figures.ts"
import { money, signedMoney } from "../format/Money.ts"
import { sentence } from "../format/Words.ts"
import { attentionWords } from "./Attention.ts"
import { type Difference, differences } from "./Differences.ts"

type Event = Pick<AuditLog, "type" | "changes">

interface Change {
  readonly from: unknown
  readonly to: unknown
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether an event recorded the former value as well. */
const isChange = (value: unknown): value is Change & Readonly<Record<string, unknown>> =>
  isRecord(value) && Object.keys(value).length === 2 && "from" in value && "to" in value

/** The name of an event. The event of a bound says whether the bound was set or removed. */
export const eventName = ({ changes, type }: Event): string => {
  const bound = changes["limit_nano"]
  if (type !== "provider_spend.limited" || !isChange(bound)) return sentence(type)
  if (bound.to === null) return "Provider bound removed"
  return Number(bound.to) === 0 ? "Provider stopped" : "Provider bound set"
}

/** Names of fields that the field itself does not say. */
const NAMES: Readonly<Record<string, string>> = {
  limit_nano: "Bound",
  limit_scale: "Rate limits",
  markup_bp: "Markup",
  last2: "Phone number ends in",
  attention: "Reported"
}

const UNITS = /_(usd|cents|nano|basis_points|seconds|id)$/

const nameOf = (field: string): string => NAMES[field] ?? sentence(field.replace(UNITS, ""))

const NANO_PER_USD = 1e9
const CENTS_PER_USD = 100
const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

const priceWords = (price: Readonly<Record<string, unknown>>): string => {
  const usd = (field: string) => money(Number(price[field] ?? 0))
  return "per_unit_usd" in price
    ? `${String(price["model"])} at ${usd("per_unit_usd")}`
    : `${String(price["model"])} at ${usd("input_usd_per_million")} in and ${usd("output_usd_per_million")} out per million tokens`
}

const numberWords = (field: string, value: number, type: string): string => {
  if (field.endsWith("_usd")) return type === "balance.adjusted" ? signedMoney(value) : money(value)
  if (field.endsWith("_cents")) return money(value / CENTS_PER_USD)
  if (field === "limit_nano" || field === "daily_spend") return `${money(value / NANO_PER_USD)} a day`
  if (field === "limit_scale") return value === 1 ? "the default" : `${count(value)} times the default`
  if (/_(basis_points|bp)$/.test(field)) return value === 0 ? "0%" : signedPercent(value)
  return field.endsWith("_seconds") ? lasting(value) : count(value)
}

/** The fields whose amounts the log keeps as text, because they can exceed the exact numbers of JSON. */
const AMOUNTS_AS_TEXT = new Set(["limit_nano", "daily_spend"])

/** A value in words; undefined for none. */
const wordsOf = (field: string, value: unknown, type: string): string | undefined => {
  if (value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0))
    return undefined
  if (typeof value === "number") return numberWords(field, value, type)
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (Array.isArray(value))
    return value
      .map((one) =>
        isRecord(one) && field === "prices" ? priceWords(one) : isRecord(one) ? JSON.stringify(one) : String(one)
      )
      .join(", ")
  if (typeof value !== "string") return JSON.stringify(value)
  if (AMOUNTS_AS_TEXT.has(field)) return numberWords(field, Number(value), type)
  if (field === "attention") return attentionWords(value)
  return ISO_TIME.test(value) ? moment(Date.parse(value) / 1_000) : value
}

interface FieldChange extends Difference {
  /** Whether the event recorded the former value, even if there was none. */
  readonly isChange: boolean
  readonly key: string
}

/** Money first, and the reason and the reference last. */
const placeOf = ({ key }: FieldChange): number =>
  key.startsWith("amount") ? -1 : key === "reason" ? 1 : key === "reference" ? 2 : 0

const fieldChanges = ({ changes, type }: Event): ReadonlyArray<FieldChange> =>
  Object.entries(changes)
    // The name of the plan says more than its id, which older events have alone.
    .filter(([key]) => key !== "plan_id" || !("plan" in changes))
    .flatMap(([key, value]): ReadonlyArray<FieldChange> => {
      const change = isChange(value)
      const [from, to] = change ? [value.from, value.to] : [undefined, value]
      if (isRecord(to) && (from == null || isRecord(from))) {
        return differences(to, from ?? undefined, key).map((one) => ({
          ...one,
          key,
          field: sentence(one.field),
          isChange: change
        }))
      }
      const words = { before: wordsOf(key, from, type), after: wordsOf(key, to, type) }
      return words.before === undefined && words.after === undefined
        ? []
        : [{ key, field: nameOf(key), ...words, isChange: change }]
    })
    .toSorted((one, other) => placeOf(one) - placeOf(other))

/** The values of an event before and after it, with names in words. A value that the event removed has none after it. */
export const changesInWords = (event: Event): ReadonlyArray<Difference> =>
  fieldChanges(event).map(({ after, before, field }) => ({ field, before, after }))

const clause = ({ after, before, field, isChange: change, key }: FieldChange): string => {
  if (key === "reason") return `“${after ?? ""}”`
  if (key === "reference") return `reference ${after ?? ""}`
  if (key === "amount_usd" && after !== undefined) return after
  if (key === "simulated") return "simulated money"
  if (after === undefined) return `${field} removed, it was ${before ?? "none"}`
  if (before !== undefined) return `${field}: ${before} → ${after}`
  return change ? `${field} set to ${after}` : `${field}: ${after}`
}

/** Describes in one line the changes of an event and their reason. Empty for an event without recorded values. */
export const summaryOf = (event: Event): string => fieldChanges(event).map(clause).join(" · ")
