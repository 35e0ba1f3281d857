/** The reads of the owner's pages, with the keys of their cache. */
import { infiniteQueryOptions, keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query"
import type { ConsoleSession, ManagedKey, ModelDetail, Project, RequestReceipt } from "../../client/Contract.ts"
import type { Item, ListId } from "../../client/Package.ts"
import { api, isSignedOut, keepCsrfToken } from "./Client.ts"
import { defined } from "./Defined.ts"
import { forgetMemory } from "./Memory.ts"

/** The maximum number of entries that a page shows of a list without a virtual table. */
export const MAX_LISTED = 500
const PAGE = 100

const MINUTE = 60_000

/** Reads a list to its end, or up to `MAX_LISTED` entries. */
const all = async <Id extends ListId>(
  id: Id,
  input: { readonly query?: object; readonly path?: object } = {}
): Promise<ReadonlyArray<Item<Id>>> => {
  const items: Array<Item<Id>> = []
  const paged = { ...input, query: { limit: PAGE, ...input.query } }
  for await (const item of api.list(id, paged as never)) {
    items.push(item)
    if (items.length >= MAX_LISTED) break
  }
  return items
}

/** The session of the signed-in owner, or null. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  staleTime: Infinity,
  queryFn: async (): Promise<ConsoleSession | null> => {
    try {
      const session = await api.call("console.session.get")
      keepCsrfToken(session.csrf_token)
      return session
    } catch (error) {
      if (isSignedOut(error)) return null
      throw error
    }
  }
})

/** Deletes all cached and stored data of an owner, except the session. */
export const forgetAccount = (client: QueryClient): void => {
  forgetMemory()
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" })
}

/** Forgets the session of an owner and everything that came with it. */
export const forgetOwner = (client: QueryClient): void => {
  keepCsrfToken(undefined)
  forgetAccount(client)
  client.setQueryData(sessionQuery.queryKey, null)
}

export const balanceQuery = queryOptions({
  queryKey: ["balance"],
  refetchInterval: MINUTE / 4,
  queryFn: async () => (await api.call("management.balance")).data
})

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: (): Promise<ReadonlyArray<ManagedKey>> => all("management.keys.list")
})

export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: (): Promise<ReadonlyArray<Project>> => all("management.projects.list")
})

export const presetsQuery = queryOptions({
  queryKey: ["presets"],
  queryFn: () => all("management.presets.list")
})

export const presetQuery = (slug: string) =>
  queryOptions({
    queryKey: ["presets", slug],
    queryFn: async () => (await api.call("management.presets.get", { path: { slug } })).data
  })

export const presetVersionsQuery = (slug: string) =>
  queryOptions({
    queryKey: ["presets", slug, "versions"],
    queryFn: () => all("management.presets.versions", { path: { slug } })
  })

export const webhooksQuery = queryOptions({
  queryKey: ["webhooks"],
  queryFn: () => all("management.webhooks.list")
})

/** The maximum number of deliveries that the page of an endpoint lists. */
export const MAX_DELIVERIES = 50

export const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ["webhooks", id, "deliveries"],
    refetchInterval: MINUTE / 6,
    queryFn: async () =>
      (
        await api.call("management.webhooks.deliveries", {
          path: { webhook_id: id },
          query: { limit: MAX_DELIVERIES }
        })
      ).data
  })

export const managementKeysQuery = queryOptions({
  queryKey: ["management-keys"],
  queryFn: () => all("console.management_keys.list")
})

export const ownerSessionsQuery = queryOptions({
  queryKey: ["owner-sessions"],
  queryFn: () => all("console.sessions.list")
})

export const notificationsQuery = queryOptions({
  queryKey: ["notifications"],
  queryFn: async () => (await api.call("console.notifications.get")).data
})

export const billingDetailsQuery = queryOptions({
  queryKey: ["billing-details"],
  queryFn: async () => (await api.call("console.billing_details.get")).data
})

export const topUpsQuery = queryOptions({ queryKey: ["top-ups"], queryFn: () => all("console.top_ups.list") })

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  staleTime: MINUTE,
  queryFn: async (): Promise<ReadonlyArray<ModelDetail>> =>
    (await api.call("models.list", { query: { limit: 1_000 } })).data
})

export const modelQuery = (id: string) =>
  queryOptions({
    queryKey: ["models", id],
    refetchInterval: MINUTE / 2,
    queryFn: () => api.call("models.get", { path: { id } })
  })

export type RequestStatus = RequestReceipt["status"]

export interface RequestFilter {
  readonly status?: RequestStatus | undefined
  readonly model?: string | undefined
}

/** The newest receipts. While `live`, they refresh every two seconds. */
export const newestQuery = (filter: RequestFilter, limit: number, live: boolean) =>
  queryOptions({
    queryKey: ["requests", "newest", filter, limit],
    refetchInterval: live ? 2_000 : false,
    queryFn: async () => (await api.call("requests.list", { query: { limit, ...defined(filter) } })).data
  })

export const receiptQuery = (id: string) =>
  queryOptions({
    queryKey: ["requests", "one", id],
    queryFn: () => api.call("requests.get", { path: { request_id: id } }),
    refetchInterval: ({ state }) => (state.data?.status === "open" ? 1_000 : false)
  })

export const auditQuery = (eventType: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["audit", eventType],
    placeholderData: keepPreviousData,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      api.call("management.audit.list", {
        query: {
          limit: 50,
          ...(eventType === undefined ? {} : { "event_types[]": [eventType] }),
          ...(pageParam === undefined ? {} : { cursor: pageParam })
        }
      }),
    getNextPageParam: (page) => page.next_cursor ?? undefined
  })
