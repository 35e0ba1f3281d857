import { useSyncExternalStore } from "react"
import { wordsOf } from "../data/Client.ts"

interface Toast {
  readonly id: number
  readonly text: string
  readonly undo: (() => void) | undefined
}

const SHOWN_MS = 5_000

const store: { toasts: ReadonlyArray<Toast>; last: number; readonly listeners: Set<() => void> } = {
  toasts: [],
  last: 0,
  listeners: new Set()
}

const keep = (toasts: ReadonlyArray<Toast>) => {
  store.toasts = toasts
  for (const listener of store.listeners) listener()
}

const listen = (listener: () => void) => {
  store.listeners.add(listener)
  return () => store.listeners.delete(listener)
}

const dismiss = (id: number) => keep(store.toasts.filter((toast) => toast.id !== id))

/** Shows a sentence for a few seconds, with a button that undoes the action if there is an `undo`. */
export const toast = (text: string, undo?: () => void): void => {
  const id = ++store.last
  keep([...store.toasts, { id, text, undo }])
  setTimeout(() => dismiss(id), SHOWN_MS)
}

/** Shows why a call failed, for calls that have no place of their own on the page. */
export const toastError = (error: unknown): void => toast(wordsOf(error).message)

/** The sentences that are shown now. */
export const Toasts = () => {
  const toasts = useSyncExternalStore(listen, () => store.toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, undo }) => (
        <div className="toast" key={id}>
          <span>{text}</span>
          {undo === undefined ? null : (
            <button
              type="button"
              className="button tiny"
              onClick={() => {
                undo()
                dismiss(id)
              }}
            >
              Undo
            </button>
          )}
        </div>
      ))}
    </div>
  )
}
