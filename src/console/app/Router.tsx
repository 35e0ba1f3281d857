/** The routes of the console, with the search parameters that hold the state of each page. */
import type { QueryClient } from "@tanstack/react-query"
import { createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router"
import { sessionQuery } from "../data/Queries.ts"
import { intervals, presets as lengths } from "../data/Ranges.ts"
import { figures, groupings } from "../data/UsageSeries.ts"
import { operatorRoutes } from "./OperatorRoutes.ts"
import { NotFound, root } from "./Root.tsx"
import { defined } from "../data/Defined.ts"
import { day, number, oneOf, type Search, text } from "./Search.ts"
import { Shell } from "./Shell.tsx"

/** The time range of a page. */
const rangeIn = (search: Search) => ({
  range: oneOf(lengths, search, "range"),
  from: day(search, "from"),
  to: day(search, "to")
})

/** The filters of requests. */
const filtersIn = (search: Search) => ({
  model: text(search, "model"),
  provider: text(search, "provider"),
  key: text(search, "key"),
  project: text(search, "project"),
  operation: text(search, "operation"),
  status: oneOf(["open", "succeeded", "failed", "cancelled"] as const, search, "status")
})

/** The page that follows the sign-in. It is always a path of this console, because a link must not lead an owner to another site. */
export const pathOf = (next: string | undefined): string =>
  next !== undefined && /^\/(?![/\\])/.test(next) && !next.startsWith("/sign-in") ? next : "/overview"

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search: Search) => defined({ next: text(search, "next") }),
  beforeLoad: async ({ context, search }) => {
    const session = await context.client.ensureQueryData(sessionQuery)
    if (session !== null) throw redirect({ href: pathOf(search.next), replace: true })
  },
  component: lazyRouteComponent(() => import("../pages/signin/SignInPage.tsx"), "SignInPage")
})

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  notFoundComponent: NotFound,
  beforeLoad: async ({ context, location }) => {
    const session = await context.client.ensureQueryData(sessionQuery)
    if (session === null) throw redirect({ to: "/sign-in", search: { next: location.href }, replace: true })
  }
})

const parent = { getParentRoute: () => shell } as const

const home = createRoute({
  ...parent,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/overview", replace: true })
  }
})

const overview = createRoute({
  ...parent,
  path: "/overview",
  validateSearch: (search: Search) =>
    defined({
      ...rangeIn(search),
      by: oneOf(["model", "key", "project", "provider"] as const, search, "by"),
      figure: oneOf(["cost_usd", "requests", "tokens"] as const, search, "figure")
    }),
  component: lazyRouteComponent(() => import("../pages/overview/OverviewPage.tsx"), "OverviewPage")
})

const explorer = createRoute({
  ...parent,
  path: "/explorer",
  validateSearch: (search: Search) =>
    defined({
      ...rangeIn(search),
      ...filtersIn(search),
      by: oneOf([...groupings, "none"] as const, search, "by"),
      figure: oneOf(figures, search, "figure"),
      interval: oneOf(intervals, search, "interval"),
      top: [5, 8, 12, 20].find((top) => top === search["top"]),
      sum: search["sum"] === true ? true : undefined
    }),
  component: lazyRouteComponent(() => import("../pages/explorer/ExplorerPage.tsx"), "ExplorerPage")
})

const requests = createRoute({
  ...parent,
  path: "/requests",
  validateSearch: (search: Search) =>
    defined({
      ...rangeIn(search),
      ...filtersIn(search),
      minCost: number(search, "minCost"),
      maxCost: number(search, "maxCost"),
      minMs: number(search, "minMs"),
      maxMs: number(search, "maxMs"),
      cols: text(search, "cols"),
      live: search["live"] === true ? true : undefined
    }),
  component: lazyRouteComponent(() => import("../pages/requests/RequestsPage.tsx"), "RequestsPage")
})

const receipt = createRoute({
  ...parent,
  path: "/requests/$id",
  component: lazyRouteComponent(() => import("../pages/receipt/ReceiptPage.tsx"), "ReceiptPage")
})

const playground = createRoute({
  ...parent,
  path: "/playground",
  validateSearch: (search: Search) =>
    defined({
      model: text(search, "model"),
      beside: text(search, "beside"),
      tab: oneOf(["chat", "image", "speech", "video"] as const, search, "tab")
    }),
  component: lazyRouteComponent(() => import("../pages/playground/PlaygroundPage.tsx"), "PlaygroundPage")
})

// A splat also matches an empty path, so the list of models is an index route beside it.
const catalogue = createRoute({ ...parent, path: "/models" })

const models = createRoute({
  getParentRoute: () => catalogue,
  path: "/",
  validateSearch: (search: Search) =>
    defined({
      q: text(search, "q"),
      modality: text(search, "modality"),
      capability: text(search, "capability"),
      provider: text(search, "provider"),
      price: text(search, "price"),
      context: text(search, "context"),
      policy: oneOf(["no_training", "zero_retention"] as const, search, "policy"),
      sort: oneOf(["name", "price", "-price", "context", "created"] as const, search, "sort")
    }),
  component: lazyRouteComponent(() => import("../pages/models/ModelsPage.tsx"), "ModelsPage")
})

const model = createRoute({
  getParentRoute: () => catalogue,
  path: "$",
  component: lazyRouteComponent(() => import("../pages/models/ModelPage.tsx"), "ModelPage")
})

const presets = createRoute({
  ...parent,
  path: "/presets",
  component: lazyRouteComponent(() => import("../pages/presets/PresetsPage.tsx"), "PresetsPage")
})

const keys = createRoute({
  ...parent,
  path: "/keys",
  validateSearch: (search: Search) => defined({ project: text(search, "project") }),
  component: lazyRouteComponent(() => import("../pages/keys/KeysPage.tsx"), "KeysPage")
})

const projects = createRoute({
  ...parent,
  path: "/projects",
  component: lazyRouteComponent(() => import("../pages/projects/ProjectsPage.tsx"), "ProjectsPage")
})

const webhooks = createRoute({
  ...parent,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("../pages/webhooks/WebhooksPage.tsx"), "WebhooksPage")
})

const billing = createRoute({
  ...parent,
  path: "/billing",
  component: lazyRouteComponent(() => import("../pages/billing/BillingPage.tsx"), "BillingPage")
})

const batches = createRoute({
  ...parent,
  path: "/batches",
  component: lazyRouteComponent(() => import("../pages/batches/BatchesPage.tsx"), "BatchesPage")
})

const files = createRoute({
  ...parent,
  path: "/batches/files",
  component: lazyRouteComponent(() => import("../pages/files/FilesPage.tsx"), "FilesPage")
})

const videos = createRoute({
  ...parent,
  path: "/videos",
  validateSearch: (search: Search) =>
    defined({ status: oneOf(["running", "completed", "failed"] as const, search, "status") }),
  component: lazyRouteComponent(() => import("../pages/videos/VideosPage.tsx"), "VideosPage")
})

const statement = createRoute({
  ...parent,
  path: "/billing/statements/$month",
  component: lazyRouteComponent(() => import("../pages/billing/StatementPage.tsx"), "StatementPage")
})

const audit = createRoute({
  ...parent,
  path: "/audit",
  validateSearch: (search: Search) => defined({ type: text(search, "type") }),
  component: lazyRouteComponent(() => import("../pages/audit/AuditPage.tsx"), "AuditPage")
})

const settings = createRoute({
  ...parent,
  path: "/settings",
  component: lazyRouteComponent(() => import("../pages/settings/SettingsPage.tsx"), "SettingsPage")
})

/** Creates the router. The client caches what the pages read. */
export const makeRouter = (client: QueryClient) =>
  createRouter({
    context: { client },
    routeTree: root.addChildren([
      signIn,
      ...operatorRoutes,
      shell.addChildren([
        home,
        overview,
        explorer,
        requests,
        receipt,
        playground,
        presets,
        catalogue.addChildren([models, model]),
        keys,
        projects,
        webhooks,
        batches,
        files,
        videos,
        billing,
        statement,
        audit,
        settings
      ])
    ]),
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: true
  })
