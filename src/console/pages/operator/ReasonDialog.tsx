/** The dialog of operators for changes that need a reason. A movement of money also needs a reference. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { refreshOperator } from "../../data/Operator.ts"
import { exactMoney } from "../../format/Money.ts"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { toast } from "../../parts/Toasts.tsx"

/** The reason and other input that an operator enters for a change. */
export interface Decision {
  readonly reason: string
  /** The idempotency key of a movement of money. The ledger moves money once under it. */
  readonly reference: string
  /** In USD; undefined for the default amount. */
  readonly amount: number | undefined
}

interface ReasonDialogProps {
  readonly title: string
  /** The effect of the change, in one or two sentences. */
  readonly children?: ReactNode
  readonly action: string
  readonly danger?: boolean
  /** Asks for an amount. The hint names the default amount of an empty field. */
  readonly amount?: { readonly label: string; readonly hint: string; readonly most?: number }
  /** Asks for a reference. */
  readonly referenced?: boolean
  /** Whether the owner of the account sees the reason. */
  readonly shownToOwner?: boolean
  /** The name that the operator types to confirm, for an action that nothing can undo. */
  readonly name?: string
  readonly run: (decision: Decision) => Promise<string>
  readonly onClose: () => void
}

const amountOf = (text: string): number | undefined => {
  const plain = text.trim().replace(/^\$/, "").replaceAll(",", "")
  return plain === "" ? undefined : Number(plain)
}

/** A new reference that is short enough to read aloud. */
const newReference = (): string => `console-${crypto.randomUUID().slice(0, 13)}`

/** The state of the form, and whether it is complete. */
const useDecision = ({ amount, name, referenced = false }: ReasonDialogProps) => {
  const [reason, setReason] = useState("")
  const [usd, setUsd] = useState("")
  const [reference, setReference] = useState(newReference)
  const [typed, setTyped] = useState("")
  const value = amountOf(usd)
  const isAmount = value === undefined || (value > 0 && value <= (amount?.most ?? Infinity))
  const isReady =
    reason.trim() !== "" &&
    isAmount &&
    (!referenced || reference.trim() !== "") &&
    (name === undefined || typed.trim() === name)
  const decision: Decision = { reason: reason.trim(), reference: reference.trim(), amount: value }
  return { isAmount, isReady, reason, reference, decision, setReason, setReference, setTyped, setUsd, typed, usd }
}

interface TextProps {
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly wrong?: string | undefined
  readonly kind?: "amount" | "id"
  readonly autoFocus?: boolean
  readonly most?: number
  readonly onChange: (text: string) => void
}

const TextField = ({ autoFocus = false, hint, kind, label, most = 500, onChange, value, wrong }: TextProps) => (
  <Field label={label} hint={hint} wrong={wrong}>
    {(field) => (
      <input
        {...field}
        className={kind === "id" ? "input mono" : "input"}
        inputMode={kind === "amount" ? "decimal" : "text"}
        required={kind !== "amount"}
        autoFocus={autoFocus}
        maxLength={most}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)

/** Asks for a reason and the other inputs of a change, makes the change, and refreshes the operator's pages. */
export const ReasonDialog = (props: ReasonDialogProps) => {
  const {
    action,
    amount,
    children,
    danger = false,
    name,
    onClose,
    referenced = false,
    run,
    shownToOwner,
    title
  } = props
  const client = useQueryClient()
  const form = useDecision(props)
  const act = useMutation({
    mutationFn: () => run(form.decision),
    onSuccess: async (done) => {
      await refreshOperator(client)
      toast(done)
      onClose()
    }
  })
  return (
    <FormDialog
      title={title}
      action={action}
      danger={danger}
      busy={act.isPending}
      error={act.error}
      ready={form.isReady}
      onSubmit={() => act.mutate()}
      onClose={onClose}
    >
      {children === undefined ? null : <div className="muted">{children}</div>}
      {amount === undefined ? null : (
        <TextField
          {...amount}
          kind="amount"
          most={20}
          value={form.usd}
          wrong={
            form.isAmount
              ? undefined
              : `The amount must be above $0.00${amount.most === undefined ? "" : ` and at most ${exactMoney(amount.most)}`}.`
          }
          onChange={form.setUsd}
        />
      )}
      <TextField
        label="Reason"
        hint={shownToOwner === true ? "The owner sees it, and the audit log keeps it." : "The audit log keeps it."}
        autoFocus
        value={form.reason}
        onChange={form.setReason}
      />
      {referenced ? (
        <TextField
          label="Reference"
          hint="For example, a ticket. The ledger moves money once under a reference, even if you send it twice."
          kind="id"
          most={200}
          value={form.reference}
          onChange={form.setReference}
        />
      ) : null}
      {name === undefined ? null : (
        <label className="field">
          <span className="label">
            Type <strong>{name}</strong> to confirm
          </span>
          <input className="input" value={form.typed} onChange={(event) => form.setTyped(event.target.value)} />
        </label>
      )}
    </FormDialog>
  )
}
