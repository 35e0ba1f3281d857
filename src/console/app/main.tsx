import "@fontsource-variable/inter/wght.css"
import "@fontsource-variable/jetbrains-mono/wght.css"
// The order of the style sheets matters: a later rule overrides an earlier one of the same weight.
import "./tokens.css"
import "./base.css"
import "./frame.css"
import "./parts.css"
import "./tables.css"
import "./code.css"
import "./dialogs.css"
import "./cells.css"
import "./cards.css"
import "./operator.css"
import "./pages.css"
import "./playground.css"
import "./highlight.css"
import "./models.css"
import "./charts.css"
import "./usage.css"
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { createRoot } from "react-dom/client"
import { isOperatorPage, OPERATOR_SESSION } from "../data/Addresses.ts"
import { isSignedOut } from "../data/Client.ts"
import { sessionQuery } from "../data/Queries.ts"
import { makeRouter } from "./Router.tsx"

/** Leads to the sign-in page when a call fails because the session has ended. The sign-in leads back to the page. */
const signedOut = (error: Error) => {
  if (!isSignedOut(error)) return
  const key = isOperatorPage(location.pathname) ? OPERATOR_SESSION : sessionQuery.queryKey
  if (client.getQueryData(key) === null) return
  client.setQueryData(key, null)
  void router.invalidate()
}

const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: signedOut }),
  mutationCache: new MutationCache({ onError: signedOut }),
  // The typed client already retries the calls that may succeed later.
  defaultOptions: { queries: { retry: false, staleTime: 5_000 } }
})

const router = makeRouter(client)

createRoot(document.getElementById("root")!).render(
  <QueryClientProvider client={client}>
    <RouterProvider router={router} />
  </QueryClientProvider>
)
