/** The secret of an inference key that this page has made. It lives in memory, and is gone when the page is. */
import { useSyncExternalStore } from "react"

export interface HeldKey {
  readonly id: string
  readonly name: string
  readonly secret: string
}

const held: { key: HeldKey | undefined; readonly listeners: Set<() => void> } = { key: undefined, listeners: new Set() }

/** Keeps a key for the playground and for snippets, or forgets it. */
export const holdKey = (key: HeldKey | undefined): void => {
  held.key = key
  for (const listener of held.listeners) listener()
}

const listen = (listener: () => void) => {
  held.listeners.add(listener)
  return () => held.listeners.delete(listener)
}

/** The key that is held. */
export const useHeldKey = (): HeldKey | undefined => useSyncExternalStore(listen, () => held.key)
