import type { PresetVersion } from "../../../client/Contract.ts"

/** The fields in which a version differs from the one before it. */
export const differences = (version: PresetVersion, before: PresetVersion | undefined): ReadonlyArray<string> => {
  const now = version.config as Readonly<Record<string, unknown>>
  const then = (before?.config ?? {}) as Readonly<Record<string, unknown>>
  const written = (value: unknown) => JSON.stringify(value) ?? ""
  return [...new Set([...Object.keys(then), ...Object.keys(now)])].flatMap((field) => {
    if (written(now[field]) === written(then[field])) return []
    return [
      ...(then[field] === undefined ? [] : [`− ${field}: ${written(then[field])}`]),
      ...(now[field] === undefined ? [] : [`+ ${field}: ${written(now[field])}`])
    ]
  })
}
