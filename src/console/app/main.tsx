import "@fontsource-variable/inter/wght.css"
import "@fontsource-variable/jetbrains-mono/wght.css"
import "./tokens.css"
import "./base.css"
import "./frame.css"
import "./parts.css"
import "./pages.css"
import "./charts.css"
import "./usage.css"
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { createRoot } from "react-dom/client"
import { isOperatorPage, OPERATOR_SESSION } from "../data/Addresses.ts"
import { isSignedOut } from "../data/Client.ts"
import { sessionQuery } from "../data/Queries.ts"
import { makeRouter } from "./Router.tsx"

/** A session that ended meanwhile leads to the sign-in page, and from there back. */
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
  // The typed client sends again what can succeed a second time.
  defaultOptions: { queries: { retry: false, staleTime: 5_000 } }
})

const router = makeRouter(client)

createRoot(document.getElementById("root")!).render(
  <QueryClientProvider client={client}>
    <RouterProvider router={router} />
  </QueryClientProvider>
)
