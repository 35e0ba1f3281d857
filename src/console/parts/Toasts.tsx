import { useSyncExternalStore } from "react"

interface Toast {
  readonly id: number
  readonly text: string
  readonly undo: (() => void) | undefined
}

const SHOWN_MS = 5_000

const kept: { toasts: ReadonlyArray<Toast>; last: number; readonly listeners: Set<() => void> } = {
  toasts: [],
  last: 0,
  listeners: new Set()
}

const keep = (toasts: ReadonlyArray<Toast>) => {
  kept.toasts = toasts
  for (const listener of kept.listeners) listener()
}

const listen = (listener: () => void) => {
  kept.listeners.add(listener)
  return () => kept.listeners.delete(listener)
}

const dismiss = (id: number) => keep(kept.toasts.filter((toast) => toast.id !== id))

/** Shows a sentence for a few seconds, with a way back where there is one. */
export const toast = (text: string, undo?: () => void): void => {
  const id = ++kept.last
  keep([...kept.toasts, { id, text, undo }])
  setTimeout(() => dismiss(id), SHOWN_MS)
}

export const Toasts = () => {
  const toasts = useSyncExternalStore(listen, () => kept.toasts)
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
