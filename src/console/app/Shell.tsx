/** The frame around every page of a signed-in owner. */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { api, keepCsrfToken } from "../data/Client.ts"
import { holdKey } from "../data/Held.ts"
import { forgetAccount, sessionQuery } from "../data/Queries.ts"
import { toast, Toasts } from "../parts/Toasts.tsx"
import { MenuContext } from "./Page.tsx"
import { Palette } from "./Palette.tsx"
import { Rail } from "./Rail.tsx"

/** Letters that, after `g`, go to a page. */
const GO: Readonly<Record<string, string>> = {
  o: "/overview",
  e: "/explorer",
  r: "/requests",
  p: "/playground",
  m: "/models",
  k: "/keys",
  b: "/billing"
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const useShortcuts = (search: () => void) => {
  const navigate = useNavigate()
  useEffect(() => {
    let began = false
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        search()
        return
      }
      if (isTyping(event.target) || event.metaKey || event.ctrlKey || event.altKey) return
      const field = event.key === "/" ? document.querySelector<HTMLElement>("[data-search]") : null
      if (field !== null) {
        event.preventDefault()
        field.focus()
      }
      const path = began ? GO[event.key] : undefined
      began = event.key === "g"
      if (path !== undefined) void navigate({ to: path })
    }
    window.addEventListener("keydown", press)
    return () => window.removeEventListener("keydown", press)
  }, [navigate, search])
}

const useSignOut = () => {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    try {
      await api.call("console.session.delete")
    } catch {
      return toast("The gateway could not end the session. Try again.")
    }
    keepCsrfToken(undefined)
    holdKey(undefined)
    forgetAccount(client)
    client.setQueryData(sessionQuery.queryKey, null)
    await navigate({ to: "/sign-in" })
  }
}

export const Shell = () => {
  const session = useQuery({ ...sessionQuery, enabled: false })
  const location = useLocation()
  const signOut = useSignOut()
  const [open, setOpen] = useState(false)
  const [searching, setSearching] = useState(false)
  useShortcuts(() => setSearching(true))
  useEffect(() => setOpen(false), [location.pathname])
  const email = session.data?.account.email ?? ""
  return (
    <MenuContext value={() => setOpen(true)}>
      <div className="frame">
        <a className="button skip" href="#content">
          Skip to the content
        </a>
        <Rail email={email} open={open} onSearch={() => setSearching(true)} onSignOut={() => void signOut()} />
        {open ? (
          <button type="button" className="veil" aria-label="Close the menu" onClick={() => setOpen(false)} />
        ) : null}
        <div className="content">
          <Outlet />
        </div>
        {searching ? <Palette onClose={() => setSearching(false)} /> : null}
        <Toasts />
      </div>
    </MenuContext>
  )
}
