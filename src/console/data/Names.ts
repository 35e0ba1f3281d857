/** Names for the ids in usage and receipts. */
import { useQuery } from "@tanstack/react-query"
import { useCallback } from "react"
import { operationName, statusName } from "../format/Words.ts"
import { keysQuery, projectsQuery } from "./Queries.ts"
import type { Grouping } from "./UsageSeries.ts"

const absent: Readonly<Record<Grouping, string>> = {
  model: "no model",
  key: "no key",
  provider: "no provider",
  project: "no project",
  operation: "no operation",
  status: "no status"
}

/** Returns a function that names a group of usage. It returns the id of a key or project that no list has. */
export const useNames = (by: Grouping | undefined): ((group: string | null | undefined) => string) => {
  const keys = useQuery({ ...keysQuery, enabled: by === "key" })
  const projects = useQuery({ ...projectsQuery, enabled: by === "project" })
  const list = by === "key" ? keys.data : by === "project" ? projects.data : undefined
  return useCallback(
    (group) => {
      if (group === undefined || by === undefined) return "other"
      if (group === null) return absent[by]
      if (by === "status") return statusName(group)
      if (by === "operation") return operationName(group)
      return list?.find(({ id }) => id === group)?.name ?? group
    },
    [by, list]
  )
}
