import type { router } from "./Router.tsx"

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: typeof router
  }
}
