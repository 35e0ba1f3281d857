/** Top-ups, and the decisions of operators about them. */
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { OperatorTopUp } from "../../../client/Contract.ts"
import { attentionWords, isPaidTwice } from "../../data/Attention.ts"
import { operatorApi } from "../../data/Client.ts"
import { money } from "../../format/Money.ts"
import { sentence } from "../../format/Words.ts"
import { Ago, Money, Status } from "../../parts/Figures.tsx"
import { actionsColumn, type Column, RowActions, Table } from "../../parts/Table.tsx"
import { ReasonDialog } from "./ReasonDialog.tsx"

type Action = "settle" | "dismiss"

/** Whether settling credits the account, and the default amount. The gateway applies the same rule. */
const defaultOf = (of: OperatorTopUp): { readonly gives: boolean; readonly usd: number } => {
  return of.status !== "paid" || isPaidTwice(of.attention)
    ? { gives: true, usd: of.amount_usd }
    : { gives: false, usd: Math.max(0, of.refunded_usd - of.taken_back_usd) }
}

interface DecideProps {
  readonly of: OperatorTopUp
  readonly action: Action
  readonly onClose: () => void
}

const Settle = ({ of, onClose }: Omit<DecideProps, "action">) => {
  const { gives, usd } = defaultOf(of)
  return (
    <ReasonDialog
      title={gives ? "Credit this top-up" : "Take this top-up back"}
      action={gives ? "Credit account" : "Take money back"}
      danger={!gives}
      referenced
      amount={{
        label: "Amount in USD",
        most: 10_000,
        hint:
          usd > 0
            ? `Leave it empty for ${money(usd)}.`
            : "Enter the amount. The processor reports no refund that is still to be taken back."
      }}
      onClose={onClose}
      run={async ({ amount, reason, reference }) => {
        const { data } = await operatorApi.call("operator.top_ups.settle", {
          path: { top_up_id: of.id },
          body: { reason, ...(amount === undefined ? {} : { amount_usd: amount }) },
          idempotencyKey: reference
        })
        const moved = `${money(Math.abs(data.amount_usd))} ${data.amount_usd < 0 ? "was taken back" : "was credited"}.`
        return data.repeated ? "This was decided before under the same reference. No money moved." : moved
      }}
    >
      {gives
        ? `The gateway credits ${of.email} once and marks the top-up as paid. First check at the processor that the payment arrived.`
        : `The gateway takes the amount from the balance of ${of.email}, which received ${money(of.credited_usd ?? of.amount_usd)} for this top-up. It never takes held money.`}
    </ReasonDialog>
  )
}

const Dismiss = ({ of, onClose }: Omit<DecideProps, "action">) => (
  <ReasonDialog
    title="Dismiss this top-up"
    action="Dismiss top-up"
    referenced
    onClose={onClose}
    run={async ({ reason, reference }) => {
      await operatorApi.call("operator.top_ups.dismiss", {
        path: { top_up_id: of.id },
        body: { reason },
        idempotencyKey: reference
      })
      return "The top-up no longer needs an operator. No money moved."
    }}
  >
    No money moves. {of.status === "open" ? "The top-up expires. " : ""}A new event from the processor can list it
    again.
  </ReasonDialog>
)

interface TopUpTableProps {
  readonly rows: ReadonlyArray<OperatorTopUp>
  /** Whether the rows are the top-ups of one account, or all that need an operator. */
  readonly of: "account" | "all"
}

const Row = ({
  isOfAll,
  onDecide,
  row
}: {
  row: OperatorTopUp
  isOfAll: boolean
  onDecide: (action: Action) => void
}) => (
  <tr>
    <th scope="row">
      {isOfAll ? (
        <span className="stack">
          <Link className="clip" to="/operator/accounts/$id" params={{ id: row.account_id }} title={row.email}>
            {row.email}
          </Link>
          <code className="muted">{row.id}</code>
        </span>
      ) : (
        <code className="muted">{row.id}</code>
      )}
    </th>
    <td className="why">
      {row.attention === null ? (
        <span className="muted">—</span>
      ) : (
        <span className="warn-text" title={row.attention}>
          {attentionWords(row.attention)}
        </span>
      )}
    </td>
    <td>
      <Status of={row.status} />
    </td>
    {isOfAll ? <td>{sentence(row.processor)}</td> : null}
    <td className="right">
      <Money usd={row.amount_usd} />
    </td>
    <td className="right">
      {row.credited_usd === null ? <span className="muted">—</span> : <Money usd={row.credited_usd} />}
    </td>
    <td className="right">
      {row.refunded_usd === 0 ? <span className="muted">—</span> : <Money usd={row.refunded_usd} />}
    </td>
    <td className="right">
      <Ago at={row.created_at} />
    </td>
    <td>
      {row.attention === null ? null : (
        <RowActions
          of={`the top-up of ${row.email}`}
          actions={[
            { name: "Settle", run: () => onDecide("settle") },
            { name: "Dismiss", run: () => onDecide("dismiss") }
          ]}
        />
      )}
    </td>
  </tr>
)

/** A table of top-ups. Those that need an operator can be settled or dismissed. */
export const TopUpTable = ({ of, rows }: TopUpTableProps) => {
  const [open, setOpen] = useState<{ readonly action: Action; readonly row: OperatorTopUp }>()
  const columns: ReadonlyArray<Column> = [
    of === "all" ? "Account" : "Top-up",
    "Reason",
    "Status",
    ...(of === "all" ? ["Processor"] : []),
    { right: "Amount" },
    { right: "Credited" },
    { right: "Refunded" },
    { right: "Created" },
    actionsColumn
  ]
  const close = () => setOpen(undefined)
  return (
    <>
      <Table label="top-ups" columns={columns}>
        {rows.map((row) => (
          <Row key={row.id} row={row} isOfAll={of === "all"} onDecide={(action) => setOpen({ action, row })} />
        ))}
      </Table>
      {open === undefined ? null : open.action === "settle" ? (
        <Settle of={open.row} onClose={close} />
      ) : (
        <Dismiss of={open.row} onClose={close} />
      )}
    </>
  )
}
