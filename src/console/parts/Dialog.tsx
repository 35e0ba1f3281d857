/** Dialogs of the browser: they keep the focus inside, and Escape closes them. */
import { type QueryKey, useMutation, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, type RefObject, useEffect, useId, useRef, useState } from "react"
import { Failed } from "./States.tsx"
import { toast } from "./Toasts.tsx"

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly wide?: boolean
}

/** Opens a dialog while it is rendered, and then gives the focus back to what had it. */
export const useModal = (ref: RefObject<HTMLDialogElement | null>): void =>
  useEffect(() => {
    const dialog = ref.current
    const opener = document.activeElement
    if (dialog !== null && !dialog.open) dialog.showModal()
    return () => {
      dialog?.close()
      // The dialog has left the page by now, so the browser does not bring the focus back.
      if (opener instanceof HTMLElement) opener.focus()
    }
  }, [])

/** A dialog that is open while it is rendered. */
export const Dialog = ({ children, onClose, title, wide = false }: DialogProps) => {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useModal(ref)
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

/** The end of a dialog that only shows something. */
export const CloseButton = ({ name = "Close", onClose }: { readonly name?: string; readonly onClose: () => void }) => (
  <div className="actions end">
    <button type="button" className={name === "Close" ? "button" : "button primary"} onClick={onClose}>
      {name}
    </button>
  </div>
)

interface FormDialogProps extends DialogProps {
  /** The verb and the noun of the button that sends the form. */
  readonly action: string
  readonly danger?: boolean
  readonly busy: boolean
  /** Whether the form can be sent as it is filled in. */
  readonly ready?: boolean
  readonly onSubmit: () => void
}

/** A dialog with a form. Only its button sends it, and Cancel leaves everything as it was. */
export const FormDialog = (props: FormDialogProps) => {
  const { action, busy, children, danger = false, onClose, onSubmit, ready = true, title, wide = false } = props
  return (
    <Dialog title={title} wide={wide} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (ready && !busy) onSubmit()
        }}
      >
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
  /** What happens, in one or two sentences. */
  readonly children: ReactNode
  /** The name to type, where the action cannot be undone. */
  readonly name?: string
  readonly action: string
  readonly run: () => Promise<A>
  /** What is read again afterwards. */
  readonly changes?: ReadonlyArray<{ readonly queryKey: QueryKey }>
  /** What is said afterwards. */
  readonly done?: string
  /** What comes instead of closing. */
  readonly onDone?: (result: A) => void
  readonly onClose: () => void
}

/** Asks before an action that cannot be undone, then does it. */
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
      ready={name === undefined || typed.trim() === name}
      onSubmit={() => act.mutate()}
      onClose={onClose}
    >
      {act.isError ? <Failed error={act.error} /> : null}
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
