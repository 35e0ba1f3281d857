import { DAY_MS, dayOf } from "../../domain/Day.ts"
import type { SearchWork } from "../../domain/Work.ts"
import type { ProviderFault } from "../ProviderError.ts"

const recencyDays = { hour: 1, day: 1, week: 7, month: 31, year: 366 } as const

/** The caller's name of the first search parameter that Tavily cannot honour. */
export const lackOf = (work: SearchWork): string | undefined => {
  if (work.country !== undefined && !KNOWN.has(work.country)) return "country"
  if (work.languages.length > 0) return "search_language_filter"
  if (work.recency === "hour") return "search_recency_filter"
  if (work.updatedAfter !== undefined) return "last_updated_after_filter"
  if (work.updatedBefore !== undefined) return "last_updated_before_filter"
  return work.mode === "web" ? undefined : "search_mode"
}

/** Why Tavily cannot answer a search; undefined when it can. */
export const refusalOf = (work: SearchWork): ProviderFault | undefined => {
  const param = lackOf(work)
  return param === undefined ? undefined : { _tag: "Refused", status: 400, detail: `it does not offer ${param}`, param }
}

/** The first day of the results: the later one of the recency and the caller's own date. */
const startOf = ({ publishedAfter, recency }: SearchWork, nowMs: number): string | undefined => {
  if (recency === undefined) return publishedAfter
  const recent = dayOf(nowMs - recencyDays[recency] * DAY_MS)
  return publishedAfter === undefined || publishedAfter < recent ? recent : publishedAfter
}

/** The countries that Tavily supports. */
const KNOWN = new Set(
  (
    "AD AE AF AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CD CF CG CH CL CM CN CO CR CU CV CY " +
    "CZ DE DJ DK DO DZ EC EE EG ER ES ET FI FJ FR GA GB GE GH GM GN GQ GR GT HN HR HT HU ID IE IL IN IQ IR IS IT JM JO JP KE " +
    "KG KH KM KP KR KW KZ LB LI LK LR LS LT LU LV LY MA MC MD ME MG MK ML MM MN MR MT MU MV MW MX MY MZ NA NE NG NI NL NO NP " +
    "NZ OM PA PE PG PH PK PL PT PY QA RO RS RU RW SA SD SE SG SI SK SN SO SS SV SY TD TG TH TJ TM TN TR TT TW TZ UA UG US UY " +
    "UZ VE VN YE ZA ZM ZW"
  ).split(" ")
)

const names = new Intl.DisplayNames("en", { type: "region" })

/** Countries that Tavily names differently than Unicode. */
const otherNames: Readonly<Record<string, string>> = {
  BA: "bosnia and herzegovina",
  CD: "congo",
  CG: "congo",
  CZ: "czech republic",
  MM: "myanmar",
  TR: "turkey",
  TT: "trinidad and tobago"
}

const countryOf = (code: string): string => otherNames[code] ?? (names.of(code) ?? code).toLowerCase()

/** Passages per page, when the search depth allows more than one. */
const passages = { low: 1, medium: 2, high: 3 } as const

/** The body of one query. A recency is sent as a range of days, which can be combined with the caller's own. */
export const encodeSearch = (query: string, depth: "basic" | "advanced", work: SearchWork, nowMs: number): object => {
  const start = startOf(work, nowMs)
  return {
    query,
    topic: "general",
    search_depth: depth,
    max_results: work.maxResults,
    ...(depth === "advanced" ? { chunks_per_source: passages[work.contextSize] } : {}),
    ...(start === undefined ? {} : { start_date: start }),
    ...(work.publishedBefore === undefined ? {} : { end_date: work.publishedBefore }),
    ...(work.domains.length === 0 ? {} : { include_domains: work.domains }),
    ...(work.withoutDomains.length === 0 ? {} : { exclude_domains: work.withoutDomains }),
    ...(work.country === undefined ? {} : { country: countryOf(work.country) })
  }
}
