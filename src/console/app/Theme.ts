/** The theme: light, dark, or that of the system. */
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

/** Changes the theme at once and stores the choice in this browser. */
export const setTheme = (theme: Theme): void => {
  if (theme === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
  try {
    if (theme === "system") localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Without storage, the choice lasts until the page is reloaded.
  }
  for (const listener of listeners) listener()
}

/** The chosen theme. The component renders again when it changes. */
export const useTheme = (): Theme => useSyncExternalStore(listen, read)
