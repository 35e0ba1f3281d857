/** The images or the speech that the playground created. They stay while the page does, whichever tab is shown. */
import { useSyncExternalStore } from "react"
import { wordsOf } from "../../data/Client.ts"
import { onForget } from "../../data/Memory.ts"

/** One request for images or for speech. */
export interface MediaResult {
  readonly id: number
  readonly model: string
  readonly prompt: string
  readonly beganMs: number
  /** How long the request took; absent while it runs. */
  readonly totalMs?: number
  /** Addresses of this page or of this gateway. */
  readonly urls?: ReadonlyArray<string>
  readonly costUsd?: number | undefined
  readonly requestId?: string | undefined
  readonly error?: string
}

interface Store {
  results: ReadonlyArray<MediaResult>
  lastId: number
  readonly listeners: Set<() => void>
}

/** A gallery of its own, newest first. It forgets its results when the owner signs out. */
export const makeGallery = () => {
  const store: Store = { results: [], lastId: 0, listeners: new Set() }
  const keep = (results: ReadonlyArray<MediaResult>) => {
    store.results = results
    for (const listener of store.listeners) listener()
  }
  onForget(() => keep([]))
  return {
    get: () => store.results,
    listen: (listener: () => void) => {
      store.listeners.add(listener)
      return () => store.listeners.delete(listener)
    },
    /** Adds a request at once, and its result or its error when it ends. */
    run: async (
      about: Pick<MediaResult, "model" | "prompt">,
      create: () => Promise<Pick<MediaResult, "urls" | "costUsd" | "requestId">>
    ) => {
      const begun: MediaResult = { ...about, id: ++store.lastId, beganMs: performance.now() }
      const end = (change: Partial<MediaResult>) => {
        const done = { ...begun, ...change, totalMs: performance.now() - begun.beganMs }
        keep(store.results.map((one) => (one.id === begun.id ? done : one)))
      }
      keep([begun, ...store.results])
      try {
        end(await create())
      } catch (error) {
        const { message, requestId } = wordsOf(error)
        end({ error: message, requestId })
      }
    }
  }
}

export type Gallery = ReturnType<typeof makeGallery>

/** The results of a gallery. The component renders again when they change. */
export const useGallery = (gallery: Gallery): ReadonlyArray<MediaResult> =>
  useSyncExternalStore(gallery.listen, gallery.get)
