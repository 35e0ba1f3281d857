/** Light, dark, or as the system has it. */
import { useSyncExternalStore } from "react"

export type Theme = "system" | "light" | "dark"

const KEY = "theme"
const listeners = new Set<() => void>()

const read = (): Theme => {
  const { theme } = document.documentElement.dataset
  return theme === "light" || theme === "dark" ? theme : "system"
}

const listen = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Changes the theme at once, and keeps the choice in this browser. */
export const setTheme = (theme: Theme): void => {
  if (theme === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
  try {
    if (theme === "system") localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  for (const listener of listeners) listener()
}

/** The theme that is chosen. */
export const useTheme = (): Theme => useSyncExternalStore(listen, read)
