/** Dialogs of the browser, which keep the focus inside. */
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react"
import { Failed } from "./States.tsx"
import { toast } from "./Toasts.tsx"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly wide?: boolean
  /** The ways to close the dialog without its buttons: Escape and a click outside, Escape alone, or none. */
  readonly closes?: "anywhere" | "escape" | "buttons"
}

/** Opens a dialog while it is rendered. Afterwards the focus returns to the element that had it. */
export const useModal = (ref: RefObject<HTMLDialogElement | null>): void =>
  useEffect(() => {
    const dialog = ref.current
    const opener = document.activeElement
    if (dialog !== null && !dialog.open) dialog.showModal()
    return () => {
      dialog?.close()
      // The dialog has left the page by now, so the browser does not return the focus.
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])

/** A dialog that is open while it is rendered. */
export const Dialog = ({ children, closes = "anywhere", onClose, title, wide = false }: DialogProps) => {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  // A selection of text may begin in the dialog and end beside it, which is no click beside it.
  const pressedBeside = useRef(false)
  useModal(ref)
  return (
    <dialog
      ref={ref}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        if (closes !== "buttons") onClose()
      }}
      onClose={() => {
        // Browsers close a dialog at the second Escape, whatever the page says to the first.
        if (closes === "buttons" && ref.current?.isConnected === true) ref.current.showModal()
      }}
      onPointerDown={(event) => {
        pressedBeside.current = event.target === ref.current
      }}
      onClick={(event) => {
        if (closes === "anywhere" && pressedBeside.current && event.target === ref.current) onClose()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
      </header>
      <div className="body">{children}</div>
    </dialog>
  )
}

/** The button that closes a dialog without a form. */
export const CloseButton = ({ name = "Close", onClose }: { readonly name?: string; readonly onClose: () => void }) => (
  <div className="actions end">
    <button type="button" className={name === "Close" ? "button" : "button primary"} onClick={onClose}>
      {name}
    </button>
  </div>
)

interface FormDialogProps extends Omit<DialogProps, "closes"> {
  /** The verb and the noun of the button that sends the form. */
  readonly action: string
  readonly danger?: boolean
  readonly busy: boolean
  /** The error of the form's call. */
  readonly error?: Error | null
  /** Whether the form is complete. */
  readonly ready?: boolean
  readonly onSubmit: () => void
}

/** A dialog with a form. Its button sends the form; Cancel and Escape discard it. A click beside the dialog does neither. */
export const FormDialog = (props: FormDialogProps) => {
  const { action, busy, children, danger = false, error = null } = props
  const { onClose, onSubmit, ready = true, title, wide = false } = props
  return (
    <Dialog title={title} wide={wide} closes="escape" onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready && !busy) onSubmit()
        }}
      >
        {error === null ? null : <Failed error={error} />}
        {children}
        <div className="actions end">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className={danger ? "button danger" : "button primary"} disabled={!ready || busy}>
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface ConfirmProps<A> {
  readonly title: string
  /** The effect of the action, in one or two sentences. */
  readonly children: ReactNode
  /** The name that the user types to confirm, for an action that nothing can undo. */
  readonly name?: string
  readonly action: string
  readonly run: () => Promise<A>
  /** The reads to refresh afterwards. */
  readonly changes?: ReadonlyArray<{ readonly queryKey: QueryKey }>
  /** The sentence to show afterwards. */
  readonly done?: string
  /** Runs afterwards in place of `onClose`. */
  readonly onDone?: (result: A) => void
  readonly onClose: () => void
}

/** Asks before an action that the user cannot undo, and runs it. */
export const Confirm = <A,>(props: ConfirmProps<A>) => {
  const { action, changes = [], children, done, name, onClose, onDone, run, title } = props
  const client = useQueryClient()
  const [typed, setTyped] = useState("")
  const act = useMutation({
    mutationFn: run,
    onSuccess: async (result) => {
      await Promise.all(changes.map(({ queryKey }) => client.invalidateQueries({ queryKey })))
      if (done !== undefined) toast(done)
      if (onDone === undefined) onClose()
      else onDone(result)
    }
  })
  return (
    <FormDialog
      danger
      title={title}
      action={action}
      busy={act.isPending}
      error={act.error}
      ready={name === undefined || typed.trim() === name}
      onSubmit={() => act.mutate()}
      onClose={onClose}
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
    </FormDialog>
  )
}
