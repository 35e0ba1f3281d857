import type { makeRouter } from "./Router.tsx"

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: ReturnType<typeof makeRouter>
  }
}
