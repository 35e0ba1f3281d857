/** Compares two JSON values field by field. */

export interface Difference {
  /** The path of the field. */
  readonly field: string
  /** The former value as JSON; undefined for a new field. */
  readonly before: string | undefined
  /** The new value as JSON; undefined for a removed field. */
  readonly after: string | undefined
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields in which a value differs from the former one. The name of a nested field is its path. */
export const differences = (after: unknown, before: unknown, path = ""): ReadonlyArray<Difference> => {
  const [now, then] = [JSON.stringify(after), JSON.stringify(before)]
  if (now === then) return []
  if (!isRecord(after) || (before !== undefined && !isRecord(before)) || Object.keys(after).length === 0) {
    return [{ field: path, before: then, after: now }]
  }
  return [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])].flatMap((field) =>
    differences(after[field], before?.[field], path === "" ? field : `${path}.${field}`)
  )
}
