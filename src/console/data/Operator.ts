/** The reads of the operator's pages, with the keys of their cache. */
import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  type QueryKey,
  queryOptions
} from "@tanstack/react-query"
import type { OperatorReport, OperatorSession, ReportRow } from "../../client/Contract.ts"
import { createClient, type CallInput } from "../../client/Package.ts"
import { OPERATOR_SESSION } from "./Addresses.ts"
import { defined } from "./Defined.ts"
import { isSignedOut, keepOperatorCsrfToken, operatorApi, origin } from "./Client.ts"

const PAGE = 50
const MINUTE = 60_000

/** The maximum number of pages of a report that a chart or a file holds: 10,000 rows. */
const MAX_PAGES = 100

/** The session of the signed-in operator, or null. */
export const operatorSessionQuery = queryOptions({
  queryKey: OPERATOR_SESSION,
  staleTime: Infinity,
  queryFn: async (): Promise<OperatorSession | null> => {
    try {
      const session = await operatorApi.call("operator.session.get")
      keepOperatorCsrfToken(session.csrf_token)
      return session
    } catch (error) {
      if (isSignedOut(error)) return null
      throw error
    }
  }
})

/** Exchanges an operator key for a session. The page forgets the key. */
export const signInWith = async (apiKey: string): Promise<OperatorSession> => {
  const keeping: typeof fetch = (input, init) => fetch(input, { ...init, credentials: "same-origin" })
  const session = await createClient({ apiKey, baseUrl: origin, fetch: keeping, maxRetries: 0 }).call(
    "operator.session.create"
  )
  keepOperatorCsrfToken(session.csrf_token)
  return session
}

/** Forgets the session of an operator and everything that was read with it. */
export const forgetOperator = (client: QueryClient): void => {
  keepOperatorCsrfToken(undefined)
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === "operator" && queryKey[1] !== "session" })
  client.setQueryData(OPERATOR_SESSION, null)
}

/** Refreshes everything that the operator's pages show, after a change. */
export const refreshOperator = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === "operator" && queryKey[1] !== "session" })

/** The list operations of operators that come in pages with a cursor. */
type Paged =
  | "operator.accounts.list"
  | "operator.keys.list"
  | "operator.requests.list"
  | "operator.requests.all"
  | "operator.top_ups.list"
  | "operator.top_ups.of_account"
  | "operator.audit.list"
  | "operator.audit.of_account"

/** A list by pages, newest first. */
const pages = <Id extends Paged>(
  id: Id,
  key: ReadonlyArray<unknown>,
  input: { readonly path?: object; readonly query?: object } = {},
  limit = PAGE
) =>
  infiniteQueryOptions({
    queryKey: ["operator", ...key, limit],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query = { ...input.query, limit, ...(pageParam === undefined ? {} : { cursor: pageParam }) }
      return operatorApi.call(id, { ...input, query, signal } as unknown as CallInput<Id>)
    },
    getNextPageParam: (page: { readonly next_cursor: string | null }) => page.next_cursor ?? undefined
  })

/** Keeps the previous rows while a query with other filters loads, if both queries have the same subject (the third part of the key). */
const keepOf =
  (thing: string) =>
  <A>(before: A | undefined, query: { readonly queryKey: QueryKey } | undefined): A | undefined =>
    query?.queryKey[2] === thing ? before : undefined

export interface AccountFilters {
  readonly q?: string | undefined
  readonly state?: string | undefined
}

export const accountsQuery = ({ q, state }: AccountFilters) => ({
  ...pages("operator.accounts.list", ["accounts", q, state], { query: defined({ search: q, state }) }),
  placeholderData: keepPreviousData
})

export const accountQuery = (id: string) =>
  queryOptions({
    queryKey: ["operator", "account", id],
    refetchInterval: MINUTE / 4,
    queryFn: async () => (await operatorApi.call("operator.accounts.get", { path: { account_id: id } })).data
  })

/** The page size of the lists on the page of an account. */
const FEW = 10

export const accountKeysQuery = (id: string) =>
  pages("operator.keys.list", ["account", id, "keys"], { path: { account_id: id } }, FEW)

export const accountTopUpsQuery = (id: string) =>
  pages("operator.top_ups.of_account", ["account", id, "top-ups"], { path: { account_id: id } }, FEW)

export const accountAuditQuery = (id: string) =>
  pages("operator.audit.of_account", ["account", id, "audit"], { path: { account_id: id } }, FEW)

export interface ReceiptFilters {
  readonly status?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
}

/** The receipts of an account. */
export const accountRequestsQuery = (id: string, filters: ReceiptFilters = {}, limit = PAGE) => ({
  ...pages(
    "operator.requests.list",
    ["requests", id, filters],
    { path: { account_id: id }, query: defined(filters) },
    limit
  ),
  placeholderData: keepOf(id)
})

/** The receipts of all accounts. */
export const anyRequestsQuery = (filters: ReceiptFilters) => ({
  ...pages("operator.requests.all", ["requests", "all", filters], { query: defined(filters) }),
  placeholderData: keepPreviousData
})

export const requestQuery = (id: string) =>
  queryOptions({
    queryKey: ["operator", "request", id],
    queryFn: async () => (await operatorApi.call("operator.requests.get", { path: { request_id: id } })).data,
    refetchInterval: ({ state }) => (state.data?.status === "open" ? 1_000 : false)
  })

/** Top-ups that need an operator. */
export const attentionQuery = pages("operator.top_ups.list", ["top-ups"])

export const plansQuery = queryOptions({
  queryKey: ["operator", "plans"],
  queryFn: async () => (await operatorApi.call("operator.plans.list")).data
})

export const boundsQuery = queryOptions({
  queryKey: ["operator", "spend"],
  refetchInterval: MINUTE / 6,
  queryFn: () => operatorApi.call("operator.spend.list")
})

export const changesQuery = pages("operator.audit.list", ["audit"])

export type ReportBy = "day" | "model" | "provider" | "account"

export interface ReportFilters {
  readonly by: ReadonlyArray<ReportBy>
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly account?: string | undefined
}

interface ReportRead extends Pick<OperatorReport, "from" | "to" | "totals"> {
  readonly rows: ReadonlyArray<ReportRow>
}

/** Revenue, cost and margin of a range of days, up to `MAX_PAGES` pages of rows. */
export const reportQuery = ({ account, by, from, to }: ReportFilters) =>
  queryOptions<ReportRead>({
    queryKey: ["operator", "report", by.join(), from, to, account],
    refetchInterval: MINUTE,
    // Rows of another grouping have other names, so they do not stay.
    placeholderData: keepOf(by.join()),
    queryFn: async ({ signal }): Promise<ReportRead> => {
      const query = { ...defined({ from, to, account_id: account }), "by[]": [...by], limit: 100 }
      let page = await operatorApi.call("operator.report", { query, signal })
      const rows: Array<ReportRow> = [...page.data]
      for (let read = 1; read < MAX_PAGES && page.next_cursor !== null; read++) {
        page = await operatorApi.call("operator.report", { query: { ...query, cursor: page.next_cursor }, signal })
        rows.push(...page.data)
      }
      return { from: page.from, to: page.to, rows, totals: page.totals }
    }
  })
