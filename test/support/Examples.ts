/** Examples of the published contract: request bodies, and real responses with stable ids and times. */
import type { Call } from "./Calls.ts"

/** The request body and the response body of an operation. */
export interface Example {
  readonly request?: unknown
  readonly response?: unknown
}

const question = [
  { role: "system", content: "Answer in one sentence." },
  { role: "user", content: "Why is the sky blue?" }
]

/** Request bodies that show more than the smallest valid call. */
const shown: Readonly<Record<string, object>> = {
  "chat.completions": { model: "gpt-4o-mini", messages: question, max_tokens: 200, temperature: 0.2 },
  responses: { model: "gpt-4o-mini", instructions: "Answer in one sentence.", input: "Why is the sky blue?" },
  messages: { model: "claude-sonnet-4-5", max_tokens: 200, messages: question.slice(1) },
  estimate: { model: "gpt-4o-mini", messages: question, max_tokens: 200 },
  "management.keys.create": { name: "production", budget_cents: 5000, budget_period: "monthly" },
  "management.keys.update": { name: "staging", budget_cents: 1000 },
  "management.projects.create": { name: "Search team" },
  "management.presets.create": { slug: "support", name: "Support", config: { model: "gpt-4o-mini", temperature: 0.2 } },
  "console.sign_in.create": { email: "owner@example.com" }
}

/** The calls with the bodies of the examples. Other bodies, such as those with ids and codes, stay as they are. */
export const shownCalls = (calls: ReadonlyMap<string, Call>): ReadonlyMap<string, Call> =>
  new Map([...calls].map(([id, call]) => [id, shown[id] === undefined ? call : { ...call, body: shown[id] }]))

const MAX_ITEMS = 1

/** The maximum number of items of an array in an example: of numbers in a vector. */
const MAX_NUMBERS = 3

const NOW = 1_790_000_000

const HEX = "0123456789abcdef".repeat(4)

/** Replaces ids, secrets, addresses and times in a text by others of the same form. */
const stableText = (text: string): string =>
  text
    .replace(/\b(svc_[a-z]{2}_)[\w-]{20,}/g, "$1EXAMPLE")
    .replace(/^(svc_[a-z]{2}_)[\w-]{4}$/, "$1EXAM")
    .replace(/\b(preset|spare)-[0-9a-f]{8}\b/g, "$1-01234567")
    .replace(/\b(whsec_)[\w+/=]{20,}/g, "$1RVhBTVBMRQ==")
    .replace(/\b(req_|msg_|resp_|chatcmpl-)?[0-9A-HJKMNP-TV-Z]{26}(?=\b|_)/g, "$101K5EXAMP0000000000000000A")
    .replace(/\btxn_[0-9a-f]{16}\b/g, "txn_0123456789abcdef")
    .replace(/(?<![0-9a-f])[0-9a-f]{24,64}(?![0-9a-f])/g, (id) => HEX.slice(0, id.length))
    .replace(/http:\/\/(127\.0\.0\.1|localhost):\d+/g, "http://127.0.0.1:8787")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-09-21T14:13:20.000Z")

/** Stable values for members whose texts are random as a whole. */
const texts: Readonly<Record<string, string>> = {
  csrf_token: "c".repeat(43),
  sign_in_id: "s".repeat(22),
  code: "123456",
  last4: "mple",
  encrypted_content: "EXAMPLE",
  signature: "EXAMPLE",
  b64_json: "iVBORw0KGgo="
}

/** The URL of a receiver on this machine. */
const RECEIVER = /^http:\/\/127\.0\.0\.1:\d+\/?$/

const isRandom = (name: string, text: string): boolean =>
  name === "code" ? /^\d{6}$/.test(text) : Object.hasOwn(texts, name)

/** Members with durations, or with numbers that depend on earlier requests of the run. */
const VARIES = /_ms$|Ms$|latency|throughput|uptime|success_rate/i

const isTime = (value: number): boolean => value > 1_700_000_000 && value < 1_900_000_000

/** Returns an answer with short arrays, and with the same ids, times and durations in every run. */
export const stable = (value: unknown, name = ""): unknown => {
  if (name === "url" && RECEIVER.test(String(value))) return "https://hooks.example.com/tollgate"
  if (typeof value === "string") return isRandom(name, value) ? texts[name] : stableText(value)
  if (typeof value === "number") return VARIES.test(name) ? 1 : isTime(value) ? NOW : value
  if (Array.isArray(value)) {
    // Messages of a request and arrays of words keep up to eight items.
    const most =
      typeof value[0] === "number" ? MAX_NUMBERS : typeof value[0] === "string" || name === "messages" ? 8 : MAX_ITEMS
    return value.slice(0, most).map((item) => stable(item))
  }
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([member, of]) => [member, stable(of, member)]))
}
