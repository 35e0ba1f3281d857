import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { Page } from "../../app/Page.tsx"
import { operatorApi } from "../../data/Client.ts"
import { reportQuery, boundsQuery } from "../../data/Operator.ts"
import { dayOf } from "../../data/Ranges.ts"
import { boundsOf, type ProviderBound } from "../../data/Bounds.ts"
import { decimalIn } from "../../data/Decimals.ts"
import { count } from "../../format/Figures.ts"
import { money } from "../../format/Money.ts"
import { Confirm, FormDialog } from "../../parts/Dialog.tsx"
import { DecimalField } from "../../parts/Fields.tsx"
import { Money } from "../../parts/Figures.tsx"
import { Meter } from "../../parts/Meter.tsx"
import { Failed, SkeletonRows } from "../../parts/States.tsx"
import { actionsColumn, type RowAction, RowActions, Table } from "../../parts/Table.tsx"
import { toast } from "../../parts/Toasts.tsx"

/** The highest bound that the gateway accepts. */
const MAX_BOUND_USD = 1_000_000_000

const SPEND = [{ queryKey: ["operator", "spend"] }]

const nameOf = (provider: string): string => (provider === "all" ? "All providers together" : provider)

const limit = (provider: string, usd: number | null) =>
  operatorApi.call("operator.spend.set", { path: { provider }, body: { limit_usd: usd } })

const BoundDialog = ({ of, onClose }: { readonly of: ProviderBound; readonly onClose: () => void }) => {
  const [usd, setUsd] = useState(of.limit === undefined ? "" : String(of.limit))
  const client = useQueryClient()
  const bound = decimalIn(usd) ?? Number.NaN
  const isBound = bound >= 0 && bound <= MAX_BOUND_USD
  const save = useMutation({
    mutationFn: () => limit(of.provider, bound),
    onSuccess: async () => {
      await client.invalidateQueries(SPEND[0]!)
      toast("The bound is set. Nodes obey it within five seconds.")
      onClose()
    }
  })
  return (
    <FormDialog
      title={`Bound what ${of.provider === "all" ? "all providers together" : of.provider} may cost in a day`}
      action="Save bound"
      busy={save.isPending}
      error={save.error}
      ready={isBound}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <DecimalField
        label="USD per UTC day"
        hint={`Today's cost is ${money(of.cost)}. At the bound, the gateway sends no further request there until the next day. 0 stops it now.`}
        wrong={isBound || usd === "" ? undefined : `The bound must be an amount from 0 to ${count(MAX_BOUND_USD)}.`}
        value={usd}
        onChange={setUsd}
      />
    </FormDialog>
  )
}

interface ConfirmBoundProps {
  readonly of: ProviderBound
  readonly action: "stop" | "remove"
  readonly onClose: () => void
}

const ConfirmBound = ({ action, of, onClose }: ConfirmBoundProps) => (
  <Confirm
    title={action === "stop" ? `Stop ${nameOf(of.provider)}?` : `Remove the bound of ${nameOf(of.provider)}?`}
    action={action === "stop" ? "Stop now" : "Remove bound"}
    done={action === "stop" ? "The bound is $0.00. Every node obeys it within five seconds." : "The bound is removed."}
    changes={SPEND}
    run={() => limit(of.provider, action === "stop" ? 0 : null)}
    onClose={onClose}
  >
    {action === "stop"
      ? "A bound of $0.00 stops new requests on every node within five seconds. Running requests finish. Other providers of the same model take over. Without one, requests fail without a charge."
      : "The gateway sends requests there again, without a bound on their cost."}
  </Confirm>
)

type Open = { readonly of: ProviderBound; readonly action: "bound" | "stop" | "remove" }

const Row = ({ of, onOpen }: { readonly of: ProviderBound; readonly onOpen: (open: Open) => void }) => {
  const isStopped = of.limit === 0
  const actions: ReadonlyArray<RowAction> = [
    { name: of.limit === undefined ? "Set bound" : "Change bound", run: () => onOpen({ of, action: "bound" }) },
    ...(of.limit === undefined ? [] : [{ name: "Remove", run: () => onOpen({ of, action: "remove" }) }]),
    ...(isStopped ? [] : [{ name: "Stop", danger: true, run: () => onOpen({ of, action: "stop" }) }])
  ]
  return (
    <tr>
      <th scope="row">
        <span className={of.provider === "all" ? "strong" : ""}>{nameOf(of.provider)}</span>
      </th>
      <td>
        {isStopped ? (
          <span className="badge bad">Stopped</span>
        ) : of.limit === undefined ? (
          <span className="muted">no bound</span>
        ) : (
          <Meter spentCents={(of.cost + of.reserved) * 100} budgetCents={of.limit * 100} period="today" />
        )}
      </td>
      <td className="right">
        <Money usd={of.cost} />
      </td>
      <td className="right">{of.reserved === 0 ? <span className="muted">—</span> : <Money usd={of.reserved} />}</td>
      <td className="right">
        <Money usd={of.cost30} />
      </td>
      <td>
        <RowActions of={nameOf(of.provider)} actions={actions} />
      </td>
    </tr>
  )
}

/** The operator's page of the cost of each provider and of the bounds on it. */
export const SpendPage = () => {
  const today = dayOf(Date.now() / 1_000)
  const spend = useQuery(boundsQuery)
  const day = useQuery(reportQuery({ by: ["provider"], from: today, to: today }))
  const month = useQuery(reportQuery({ by: ["provider"] }))
  const [open, setOpen] = useState<Open>()
  const error = spend.error ?? day.error ?? month.error
  const isReady = spend.data !== undefined && day.data !== undefined && month.data !== undefined
  const rows = isReady ? boundsOf(spend.data, day.data.rows, month.data.rows) : undefined
  const close = () => setOpen(undefined)
  return (
    <Page title="Provider spend">
      {error === null ? null : (
        <Failed error={error} onRetry={() => void Promise.all([spend.refetch(), day.refetch(), month.refetch()])} />
      )}
      <section className="card" aria-label="Providers">
        {rows === undefined ? (
          error === null ? (
            <SkeletonRows rows={8} />
          ) : null
        ) : (
          <Table
            label="providers"
            columns={[
              "Provider",
              "Bound",
              { right: "Cost today" },
              { right: "Running requests, at most" },
              { right: "Cost in 30 days" },
              actionsColumn
            ]}
          >
            {rows.map((row) => (
              <Row key={row.provider} of={row} onOpen={setOpen} />
            ))}
          </Table>
        )}
      </section>
      <p className="muted small">
        A bound covers all nodes together, for one UTC day. At the bound, requests go to other providers of the same
        model, or fail without a charge.
      </p>
      {open === undefined ? null : open.action === "bound" ? (
        <BoundDialog of={open.of} onClose={close} />
      ) : (
        <ConfirmBound of={open.of} action={open.action} onClose={close} />
      )}
    </Page>
  )
}
