/** Keyboard shortcuts of every page: Escape closes menus, `/` goes to the search field, `g` and a letter go to a page, Ctrl K opens the palette. */
import { useNavigate } from "@tanstack/react-router"
import { useEffect } from "react"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

/** Closes the open menus that do not contain an element. Returns the button of the last one that it closed. */
const closeMenus = (around: EventTarget | null): HTMLElement | null => {
  let button: HTMLElement | null = null
  for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu-of[open]")) {
    if (around instanceof Node && menu.contains(around)) continue
    menu.open = false
    button = menu.querySelector("summary")
  }
  return button
}

/** The path of a page for each letter. */
export type PagesByLetter = Readonly<Record<string, string>>

/** Listens to the shortcuts while the component is on the page. No shortcut works while a dialog is open. */
export const useShortcuts = (pages: PagesByLetter, search?: () => void) => {
  const navigate = useNavigate()
  useEffect(() => {
    let began = false
    const press = (event: KeyboardEvent) => {
      // A dialog keeps the keyboard: another page would discard what it holds.
      if (document.querySelector("dialog[open]") !== null) return
      if (search !== undefined && event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey)) {
        event.preventDefault()
        search()
        return
      }
      if (event.key === "Escape") closeMenus(null)?.focus()
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
    const point = ({ target }: PointerEvent) => void closeMenus(target)
    window.addEventListener("keydown", press)
    window.addEventListener("pointerdown", point)
    return () => {
      window.removeEventListener("keydown", press)
      window.removeEventListener("pointerdown", point)
    }
  }, [navigate, pages, search])
}
