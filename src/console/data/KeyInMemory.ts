/** An inference key whose secret the page keeps in memory, for the playground and for snippets. A reload forgets it. */
import { useSyncExternalStore } from "react"
import { onForget } from "./Memory.ts"

export interface KeyInMemory {
  readonly id: string
  readonly name: string
  readonly secret: string
}

const store: { key: KeyInMemory | undefined; readonly listeners: Set<() => void> } = {
  key: undefined,
  listeners: new Set()
}

/** Keeps a key in memory in place of the former one. Without a key, forgets the former one. */
export const keepKey = (key: KeyInMemory | undefined): void => {
  store.key = key
  for (const listener of store.listeners) listener()
}

onForget(() => keepKey(undefined))

const listen = (listener: () => void) => {
  store.listeners.add(listener)
  return () => store.listeners.delete(listener)
}

/** The key in memory; undefined without one. */
export const keyInMemory = (): KeyInMemory | undefined => store.key

/** Returns the key in memory. The component renders again when the key changes. */
export const useKeyInMemory = (): KeyInMemory | undefined => useSyncExternalStore(listen, keyInMemory)
