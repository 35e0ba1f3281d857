/** The frame of every signed-in page: the rail, which is a sheet on a phone, and the page beside it. */
import { Outlet, useLocation, useRouterState } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { Toasts } from "../parts/Toasts.tsx"
import { MenuContext } from "./Page.tsx"

interface FrameProps {
  readonly rail: (isOpen: boolean) => ReactNode
  readonly isOperator?: boolean
  /** Dialogs over the page. */
  readonly children?: ReactNode
}

/** Renders the rail, the page of the route, dialogs and toasts. Escape and a click beside it close the open rail. */
export const Frame = ({ children, isOperator = false, rail }: FrameProps) => {
  const { pathname } = useLocation()
  const [open, setOpen] = useState(false)
  const arrived = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const leftByLink = useRef(false)
  useEffect(() => {
    if (open) leftByLink.current = true
    setOpen(false)
  }, [pathname])
  useEffect(() => {
    // The link that had the focus is hidden with its sheet.
    if (leftByLink.current) document.getElementById("content")?.focus()
    leftByLink.current = false
  }, [arrived])
  const close = () => {
    setOpen(false)
    // The sheet had the focus, which returns to the button that opened it.
    document.querySelector<HTMLElement>(".top .menu")?.focus()
  }
  useEffect(() => {
    if (!open) return
    const press = ({ key }: KeyboardEvent) => key === "Escape" && close()
    window.addEventListener("keydown", press)
    return () => window.removeEventListener("keydown", press)
  }, [open])
  return (
    <MenuContext value={() => setOpen(true)}>
      <div className={isOperator ? "frame operator" : "frame"}>
        <a className="button skip" href="#content">
          Skip to the content
        </a>
        {rail(open)}
        {open ? <button type="button" className="veil" aria-label="Close the menu" onClick={close} /> : null}
        <div className="content">
          <Outlet />
        </div>
        {children}
        <Toasts />
      </div>
    </MenuContext>
  )
}
