/** Dialogs of the browser: they keep the focus inside, and Escape closes them. */
import { type ReactNode, useEffect, useId, useRef, useState } from "react"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly wide?: boolean
}

/** A dialog that is open while it is rendered. */
export const Dialog = ({ children, onClose, title, wide = false }: DialogProps) => {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    if (dialog !== null && !dialog.open) dialog.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
      </header>
      <div className="body">{children}</div>
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  /** What happens, in one or two sentences. */
  readonly children: ReactNode
  /** The name to type, where the action cannot be undone. */
  readonly name?: string
  readonly action: string
  readonly busy: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks before an action that cannot be undone. */
export const Confirm = ({ action, busy, children, name, onClose, onConfirm, title }: ConfirmProps) => {
  const [typed, setTyped] = useState("")
  const ready = name === undefined || typed.trim() === name
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready && !busy) onConfirm()
        }}
      >
        <div className="muted">{children}</div>
        {name === undefined ? null : (
          <label className="field">
            <span className="label">
              Type <strong>{name}</strong> to confirm
            </span>
            <input className="input" value={typed} autoFocus onChange={(event) => setTyped(event.target.value)} />
          </label>
        )}
        <div className="actions end">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button danger" disabled={!ready || busy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
