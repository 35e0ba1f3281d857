/** The root of all routes, and the pages for an unknown address and for a failed start. */
import type { QueryClient } from "@tanstack/react-query"
import { createRootRouteWithContext, type ErrorComponentProps, Outlet } from "@tanstack/react-router"
import { Empty, Failed } from "../parts/States.tsx"
import { Page } from "./Page.tsx"

/** The page for an unknown address. */
export const NotFound = () => (
  <Page title="Not found">
    <div className="card">
      <Empty title="There is no page at this address.">Check the address, or choose a page in the menu.</Empty>
    </div>
  </Page>
)

const StartError = ({ error, reset }: ErrorComponentProps) => (
  <div className="entry">
    <main>
      <Failed error={error} onRetry={reset} />
    </main>
  </div>
)

export const root = createRootRouteWithContext<{ readonly client: QueryClient }>()({
  component: Outlet,
  errorComponent: StartError
})
