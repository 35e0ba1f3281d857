import { Result } from "effect"
import { SearchRequest } from "../../../schemas/inference/Search.ts"
import { isDay } from "../../domain/Day.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import type { SearchWork } from "../../domain/Work.ts"
import { decoder } from "../Decode.ts"

/** A decoded search request, with defaults. */
export interface DecodedSearch {
  /** Undefined: the service chooses. */
  readonly model: string | undefined
  readonly work: SearchWork
  /** Whether the queries came as a list, so that results contain the index of their query. */
  readonly several: boolean
  /** The limit for all snippets together. */
  readonly maxTokens: number | undefined
}

const decodeWire = decoder(SearchRequest, { strict: true })

const dayFields = [
  "search_after_date_filter",
  "search_before_date_filter",
  "last_updated_after_filter",
  "last_updated_before_filter"
] as const

type Days = Partial<Record<(typeof dayFields)[number], string>>

/** `MM/DD/YYYY` as `YYYY-MM-DD`; undefined for a date that does not exist. */
const dayOf = (text: string): string | undefined => {
  const [month = "", day = "", year = ""] = text.split("/")
  const iso = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
  return isDay(iso) ? iso : undefined
}

const daysOf = (wire: SearchRequest): Result.Result<Days, Failure> => {
  const days: Days = {}
  for (const field of dayFields) {
    const value = wire[field]
    if (value == null) continue
    const day = dayOf(value)
    if (day === undefined) return Result.fail(invalid(field, "must be a date as MM/DD/YYYY"))
    days[field] = day
  }
  for (const [after, before] of [
    ["search_after_date_filter", "search_before_date_filter"],
    ["last_updated_after_filter", "last_updated_before_filter"]
  ] as const) {
    if ((days[after] ?? "") > (days[before] ?? "~")) return Result.fail(invalid(before, `must not be before ${after}`))
  }
  return Result.succeed(days)
}

/** Decodes the body of `POST /search`. Errors name every invalid or unknown field. */
export const decodeSearch = (body: unknown): Result.Result<DecodedSearch, Failure> =>
  Result.gen(function* () {
    const wire = yield* decodeWire(body)
    const days = yield* daysOf(wire)
    const domains = (wire.search_domain_filter ?? []).map((domain) => domain.toLowerCase())
    return {
      model: wire.model ?? undefined,
      several: typeof wire.query !== "string",
      maxTokens: wire.max_tokens ?? undefined,
      work: {
        queries: typeof wire.query === "string" ? [wire.query] : wire.query,
        maxResults: wire.max_results ?? 10,
        maxTokensPerPage: wire.max_tokens_per_page ?? undefined,
        country: wire.country?.toUpperCase(),
        languages: (wire.search_language_filter ?? []).map((language) => language.toLowerCase()),
        domains: domains.filter((domain) => !domain.startsWith("-")),
        withoutDomains: domains.filter((domain) => domain.startsWith("-")).map((domain) => domain.slice(1)),
        recency: wire.search_recency_filter ?? undefined,
        publishedAfter: days.search_after_date_filter,
        publishedBefore: days.search_before_date_filter,
        updatedAfter: days.last_updated_after_filter,
        updatedBefore: days.last_updated_before_filter,
        mode: wire.search_mode ?? "web",
        contextSize: wire.search_context_size ?? "medium"
      }
    }
  })
