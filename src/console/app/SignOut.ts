import { type QueryClient, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { toast } from "../parts/Toasts.tsx"

interface SignOut {
  readonly end: () => Promise<unknown>
  /** Forgets the session and everything that came with it. */
  readonly forget: (client: QueryClient) => void
  readonly to: "/sign-in" | "/operator/sign-in"
}

/** Returns a function that ends a session at the gateway, forgets it, and goes to the sign-in page. A failure keeps the session. */
export const useSignOut = ({ end, forget, to }: SignOut) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    try {
      await end()
    } catch {
      return toast("The gateway could not end the session. Try again.")
    }
    forget(client)
    await navigate({ to })
  }
}
