/** Dialogs of operators: each change of an account has a reason, and money moves under a reference. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { type ReactNode, useState } from "react"
import { readAgain } from "../../data/Operator.ts"
import { exactMoney } from "../../format/Money.ts"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { Failed } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"

/** What an operator says of a change. */
export interface Said {
  readonly reason: string
  /** The idempotency key of a movement of money. A repeat under it moves nothing. */
  readonly reference: string
  /** In USD; undefined for the usual amount. */
  readonly amount: number | undefined
}

interface AskProps {
  readonly title: string
  /** What happens, in one or two sentences. */
  readonly children?: ReactNode
  readonly action: string
  readonly danger?: boolean
  /** Asks for an amount, with what an empty field stands for. */
  readonly amount?: { readonly label: string; readonly hint: string; readonly most?: number }
  /** Asks for a reference. */
  readonly referenced?: boolean
  /** Owners see the reason too. */
  readonly shownToOwner?: boolean
  /** A name to type, for what cannot be undone. */
  readonly name?: string
  readonly run: (said: Said) => Promise<string>
  readonly onClose: () => void
}

const amountOf = (text: string): number | undefined => {
  const plain = text.trim().replace(/^\$/, "").replaceAll(",", "")
  return plain === "" ? undefined : Number(plain)
}

/** A new reference, short enough to read out. */
const newReference = (): string => `console-${crypto.randomUUID().slice(0, 13)}`

/** What is typed, and whether it can be sent. */
const useSaid = ({ amount, name, referenced = false }: AskProps) => {
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
  const said: Said = { reason: reason.trim(), reference: reference.trim(), amount: value }
  return { isAmount, isReady, reason, reference, said, setReason, setReference, setTyped, setUsd, typed, usd }
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

/** Asks for a reason, and for what else a change needs, and then does it. Everything that operators read is read again. */
export const Ask = (props: AskProps) => {
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
  const form = useSaid(props)
  const act = useMutation({
    mutationFn: () => run(form.said),
    onSuccess: async (done) => {
      await readAgain(client)
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
      ready={form.isReady}
      onSubmit={() => act.mutate()}
      onClose={onClose}
    >
      {act.isError ? <Failed error={act.error} /> : null}
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
