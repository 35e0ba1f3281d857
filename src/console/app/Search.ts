/** Reads the search parameters, which hold the state of a page. */
import { isDay } from "../data/Ranges.ts"

/** The search parameters of a URL, before they are read. */
export type Search = Readonly<Record<string, unknown>>

/** A text; undefined when it is missing or empty. */
export const text = (search: Search, name: string): string | undefined => {
  const value = search[name]
  return typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined
}

/** One of several words; undefined for any other value. */
export const oneOf = <A extends string>(options: ReadonlyArray<A>, search: Search, name: string): A | undefined =>
  options.find((option) => option === search[name])

/** A day as `YYYY-MM-DD`; undefined for any other value. */
export const day = (search: Search, name: string): string | undefined => {
  const value = text(search, name)
  return value !== undefined && isDay(value) ? value : undefined
}

/** A number from zero on; undefined for any other value. */
export const number = (search: Search, name: string): number | undefined => {
  const value = Number(search[name] ?? Number.NaN)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}
