/** Keys that work on every page: `/` for the field that searches, `g` and a letter for a page, and Ctrl K for the palette. */
import { useNavigate } from "@tanstack/react-router"
import { useEffect } from "react"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** The pages by their letters. */
export type PagesByLetter = Readonly<Record<string, string>>

export const useShortcuts = (pages: PagesByLetter, search?: () => void) => {
  const navigate = useNavigate()
  useEffect(() => {
    let began = false
    const press = (event: KeyboardEvent) => {
      if (search !== undefined && event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
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
      const path = began ? pages[event.key] : undefined
      began = event.key === "g"
      if (path !== undefined) void navigate({ to: path })
    }
    window.addEventListener("keydown", press)
    return () => window.removeEventListener("keydown", press)
  }, [navigate, pages, search])
}
