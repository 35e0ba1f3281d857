import { isDeepStrictEqual } from "node:util"
import type { Principal } from "../../schemas/Access.ts"
import type { RoutingPolicy } from "../../schemas/Routing.ts"
import type { KeyRow } from "../account/KeysSql.ts"
import { type DataPolicy, stricter } from "../domain/Plan.ts"

type StoredRouting = Pick<KeyRow, "routing" | "project_routing" | "project_data_policy">

/** Merges a key's routing over its project's, field by field, including the fields of `providers`, `max_price` and `timeouts`. */
const over = (own: RoutingPolicy, project: RoutingPolicy): RoutingPolicy => ({
  ...project,
  ...own,
  ...merged("providers", own, project),
  ...merged("max_price", own, project),
  ...merged("timeouts", own, project)
})

const merged = <K extends "providers" | "max_price" | "timeouts">(
  name: K,
  own: RoutingPolicy,
  project: RoutingPolicy
) => (own[name] === undefined || project[name] === undefined ? {} : { [name]: { ...project[name], ...own[name] } })

/**
 * Returns the routing of a key's requests: the key's own over its project's, with the strictest data policy of both. Empty when neither
 * has any.
 */
export const routingOf = ({
  project_data_policy: floor,
  project_routing: project,
  routing: own
}: StoredRouting): Pick<Principal, "routing"> => {
  const policies = [floor, project?.data_policy, own?.data_policy].filter((one) => one != null)
  const policy = policies.reduce<DataPolicy>(stricter, "default")
  if (own === null && project === null && policy === "default") return {}
  const routing = over(own ?? {}, project ?? {})
  return { routing: policy === "default" ? routing : { ...routing, data_policy: policy } }
}

/** Whether a key still has the project and the routing of its cached principal. */
export const hasSameRouting = (now: Principal, known: Principal): boolean =>
  now.projectId === known.projectId && isDeepStrictEqual(now.routing, known.routing)
