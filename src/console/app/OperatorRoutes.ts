/** The routes of the operator's section. Each page is a separate chunk, so that owners load none of them. */
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router"
import { operatorPathOf } from "../data/Addresses.ts"
import { NotFound, root } from "./Root.tsx"
import { defined } from "../data/Defined.ts"
import { day, oneOf, type Search, text } from "./Search.ts"

const sessionQuery = async () => (await import("../data/Operator.ts")).operatorSessionQuery

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/operator/sign-in",
  validateSearch: (search: Search) => defined({ next: text(search, "next") }),
  beforeLoad: async ({ context, search }) => {
    const session = await context.client.ensureQueryData(await sessionQuery())
    if (session !== null) throw redirect({ href: operatorPathOf(search.next), replace: true })
  },
  component: lazyRouteComponent(() => import("../pages/operator/SignInPage.tsx"), "OperatorSignInPage")
})

const shell = createRoute({
  getParentRoute: () => root,
  id: "operator",
  component: lazyRouteComponent(() => import("../pages/operator/Shell.tsx"), "OperatorShell"),
  notFoundComponent: NotFound,
  beforeLoad: async ({ context, location }) => {
    const session = await context.client.ensureQueryData(await sessionQuery())
    if (session === null) throw redirect({ to: "/operator/sign-in", search: { next: location.href }, replace: true })
  }
})

const parent = { getParentRoute: () => shell } as const

const home = createRoute({
  ...parent,
  path: "/operator",
  beforeLoad: () => {
    throw redirect({ to: "/operator/accounts", replace: true })
  }
})

const accounts = createRoute({
  ...parent,
  path: "/operator/accounts",
  validateSearch: (search: Search) =>
    defined({ q: text(search, "q"), state: oneOf(["active", "suspended", "closed"] as const, search, "state") }),
  component: lazyRouteComponent(() => import("../pages/operator/AccountsPage.tsx"), "AccountsPage")
})

const account = createRoute({
  ...parent,
  path: "/operator/accounts/$id",
  component: lazyRouteComponent(() => import("../pages/operator/AccountPage.tsx"), "AccountPage")
})

const requests = createRoute({
  ...parent,
  path: "/operator/requests",
  validateSearch: (search: Search) =>
    defined({
      account: text(search, "account"),
      status: oneOf(["open", "succeeded", "failed", "cancelled"] as const, search, "status"),
      model: text(search, "model"),
      provider: text(search, "provider")
    }),
  component: lazyRouteComponent(() => import("../pages/operator/AnyRequestsPage.tsx"), "AnyRequestsPage")
})

const request = createRoute({
  ...parent,
  path: "/operator/requests/$id",
  component: lazyRouteComponent(() => import("../pages/operator/RequestPage.tsx"), "RequestPage")
})

const topUps = createRoute({
  ...parent,
  path: "/operator/top-ups",
  component: lazyRouteComponent(() => import("../pages/operator/TopUpsPage.tsx"), "TopUpsPage")
})

const report = createRoute({
  ...parent,
  path: "/operator/report",
  validateSearch: (search: Search) =>
    defined({
      days: oneOf(["7d", "30d", "90d"] as const, search, "days"),
      from: day(search, "from"),
      to: day(search, "to"),
      by: oneOf(["day", "model", "provider", "account"] as const, search, "by"),
      figure: oneOf(["revenue_usd", "provider_cost_usd", "margin_usd", "absorbed_usd"] as const, search, "figure"),
      account: text(search, "account")
    }),
  component: lazyRouteComponent(() => import("../pages/operator/ReportPage.tsx"), "ReportPage")
})

const plans = createRoute({
  ...parent,
  path: "/operator/plans",
  component: lazyRouteComponent(() => import("../pages/operator/PlansPage.tsx"), "PlansPage")
})

const spend = createRoute({
  ...parent,
  path: "/operator/spend",
  component: lazyRouteComponent(() => import("../pages/operator/SpendPage.tsx"), "SpendPage")
})

const audit = createRoute({
  ...parent,
  path: "/operator/audit",
  component: lazyRouteComponent(() => import("../pages/operator/ChangesPage.tsx"), "ChangesPage")
})

/** The sign-in page of operators and the pages behind it. */
export const operatorRoutes = [
  signIn,
  shell.addChildren([home, accounts, account, requests, request, topUps, report, plans, spend, audit])
] as const
