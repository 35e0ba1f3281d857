/** Names for the ids that usage and receipts carry. */
import { useQuery } from "@tanstack/react-query"
import type { Dimension } from "./Series.ts"
import { keysQuery, projectsQuery } from "./Queries.ts"

const absent: Readonly<Record<Dimension, string>> = {
  model: "no model",
  key: "no key",
  provider: "no provider",
  project: "no project"
}

/** The name of a group of usage: of keys and projects by their ids, and the id itself of what no list has. */
export const useNames = (by: Dimension): ((group: string | null | undefined) => string) => {
  const keys = useQuery({ ...keysQuery, enabled: by === "key" })
  const projects = useQuery({ ...projectsQuery, enabled: by === "project" })
  const list = by === "key" ? keys.data : by === "project" ? projects.data : undefined
  return (group) => {
    if (group === undefined) return "other"
    if (group === null) return absent[by]
    return list?.find(({ id }) => id === group)?.name ?? group
  }
}
