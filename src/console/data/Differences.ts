/** What differs between two values of JSON, field by field. */

export interface Difference {
  /** The path of the field. */
  readonly field: string
  /** As JSON; undefined for a field that came. */
  readonly before: string | undefined
  /** As JSON; undefined for a field that went. */
  readonly after: string | undefined
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The fields in which a value differs from the one before it. Fields of nested records are named by their path. */
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

/** The changes of a line of the audit log, whose values are `{ from, to }` where the line knows what was there before. */
export const auditDifferences = (changes: Readonly<Record<string, unknown>>): ReadonlyArray<Difference> =>
  Object.entries(changes).flatMap(([field, value]) =>
    isRecord(value) && Object.keys(value).length === 2 && "from" in value && "to" in value
      ? [{ field, before: JSON.stringify(value["from"]), after: JSON.stringify(value["to"]) }]
      : differences(value, undefined, field)
  )
