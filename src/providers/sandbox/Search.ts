import { Clock, Effect } from "effect"
import { ProviderError } from "../ProviderError.ts"
import type { SearchResults, SearchWork } from "../../domain/Work.ts"
import type { WorkCall } from "../Provider.ts"
import { bm25 } from "./Bm25.ts"
import library from "./library.json" with { type: "json" }
import { searchRefusalOf } from "./Refusals.ts"
import { playWork } from "./WorkPlay.ts"

/** A page of the sandbox's web. Days are `YYYY-MM-DD`. */
interface Page {
  readonly title: string
  readonly url: string
  readonly text: string
  readonly date?: string
  /** In place of a date: the page is always this old. Otherwise the sandbox would have no recent pages. */
  readonly hoursAgo?: number
  /** Absent: never changed since. */
  readonly updated?: string
  readonly language: string
  readonly country: string
  /** Absent: an ordinary page. */
  readonly mode?: string
}

const pages: ReadonlyArray<Page> = library

const HOUR_MS = 3_600_000

const recencyHours = { hour: 1, day: 24, week: 7 * 24, month: 31 * 24, year: 366 * 24 } as const

const publishedMs = ({ date = "", hoursAgo }: Page, nowMs: number): number =>
  hoursAgo === undefined ? Date.parse(date) : nowMs - hoursAgo * HOUR_MS

const dayOf = (page: Page, nowMs: number): string => new Date(publishedMs(page, nowMs)).toISOString().slice(0, 10)

const isBelow = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)

const isBetween = (day: string, after: string | undefined, before: string | undefined): boolean =>
  (after === undefined || day >= after) && (before === undefined || day <= before)

const isWanted = (page: Page, work: SearchWork, nowMs: number): boolean => {
  const host = new URL(page.url).hostname
  const { domains, languages, mode, recency, withoutDomains } = work
  const day = dayOf(page, nowMs)
  return (
    (domains.length === 0 || domains.some((domain) => isBelow(host, domain))) &&
    !withoutDomains.some((domain) => isBelow(host, domain)) &&
    (languages.length === 0 || languages.includes(page.language)) &&
    (mode === "web" || page.mode === mode) &&
    (recency === undefined || nowMs - publishedMs(page, nowMs) <= recencyHours[recency] * HOUR_MS) &&
    isBetween(day, work.publishedAfter, work.publishedBefore) &&
    isBetween(page.updated ?? day, work.updatedAfter, work.updatedBefore)
  )
}

/** The factor by which a country's own pages rank higher. */
const HOME = 1.25

const sentences = { low: 1, medium: 2, high: Infinity } as const

/** The first sentences of a page, as many as the context size asks for. */
const snippetOf = ({ text }: Page, { contextSize }: SearchWork): string =>
  (text.match(/.+?[.。](?=\s|$)\s*/g) ?? [text]).slice(0, sentences[contextSize]).join("").trim()

/** The pages that contain words of a query, best first. */
const found = (query: string, queryIndex: number, work: SearchWork, nowMs: number): SearchResults["results"] => {
  const wanted = pages.filter((page) => isWanted(page, work, nowMs))
  // A word in the title counts like two more in the text.
  const scores = bm25(
    query,
    wanted.map(({ text, title }) => `${title} ${title} ${text}`)
  )
  return wanted
    .map((page, index) => ({ page, score: (scores[index] ?? 0) * (page.country === work.country ? HOME : 1) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, work.maxResults)
    .map(({ page }) => ({
      title: page.title,
      url: page.url,
      snippet: snippetOf(page, work),
      date: dayOf(page, nowMs),
      ...(page.updated === undefined ? {} : { lastUpdated: page.updated }),
      queryIndex
    }))
}

/** The double's search in a small library of its own. An empty answer has no results. */
export const search = (id: string, call: WorkCall, work: SearchWork): Effect.Effect<SearchResults, ProviderError> =>
  playWork(id, call, ({ fault }) => {
    const refusal = searchRefusalOf(id, work)
    if (refusal !== undefined) return Effect.fail(new ProviderError({ provider: id, fault: refusal }))
    return Effect.map(Clock.currentTimeMillis, (nowMs) => ({
      results: fault === "empty" ? [] : work.queries.flatMap((query, index) => found(query, index, work, nowMs))
    }))
  })
