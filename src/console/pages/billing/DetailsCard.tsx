import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { BillingDetailsReport } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { billingDetailsQuery } from "../../data/Queries.ts"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { Failed, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"

type Details = BillingDetailsReport["data"]

const MAX_LINES = 6

const orNull = (text: string): string | null => (text.trim() === "" ? null : text.trim())

const DetailsDialog = ({ details, onClose }: { readonly details: Details; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [company, setCompany] = useState(details.company_name ?? "")
  const [address, setAddress] = useState(details.address_lines.join("\n"))
  const [taxId, setTaxId] = useState(details.tax_id ?? "")
  const lines = address.split("\n").flatMap((line) => orNull(line) ?? [])
  const save = useMutation({
    mutationFn: () =>
      api.call("console.billing_details.update", {
        body: { company_name: orNull(company), address_lines: lines, tax_id: orNull(taxId) }
      }),
    onSuccess: ({ data }) => {
      client.setQueryData(billingDetailsQuery.queryKey, data)
      toast("Saved the billing details.")
      onClose()
    }
  })
  return (
    <FormDialog
      title="Change billing details"
      action="Save details"
      busy={save.isPending}
      error={save.error}
      ready={lines.length <= MAX_LINES}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <Field label="Company name">
        {(props) => (
          <input
            {...props}
            className="input"
            maxLength={200}
            autoComplete="organization"
            autoFocus
            value={company}
            onChange={(event) => setCompany(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Address"
        hint="Up to six lines, as statements show them."
        wrong={
          lines.length > MAX_LINES
            ? `The address must have at most ${MAX_LINES} lines; got ${lines.length}.`
            : undefined
        }
      >
        {(props) => (
          <textarea
            {...props}
            className="input"
            rows={4}
            autoComplete="street-address"
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
        )}
      </Field>
      <Field label="Tax id" hint="A VAT number or another tax id, such as DE123456789.">
        {(props) => (
          <input
            {...props}
            className="input"
            maxLength={32}
            value={taxId}
            onChange={(event) => setTaxId(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}

/** The company, the address and the tax id that statements show. */
export const DetailsCard = () => {
  const { data, error, isPending, refetch } = useQuery(billingDetailsQuery)
  const [changing, setChanging] = useState(false)
  const isEmpty = data?.company_name === null && data.address_lines.length === 0 && data.tax_id === null
  return (
    <section className="card" aria-label="Billing details">
      <header>
        <h2>Billing details</h2>
        <button type="button" className="button" disabled={data === undefined} onClick={() => setChanging(true)}>
          {isEmpty ? "Add details" : "Change details"}
        </button>
      </header>
      {error === null ? null : <Failed error={error} onRetry={() => void refetch()} />}
      {isPending ? <SkeletonRows rows={2} /> : null}
      {isEmpty ? <p className="body muted">Statements show the company, its address and its tax id.</p> : null}
      {data === undefined || isEmpty ? null : (
        <dl className="body facts">
          <dt>Company</dt>
          <dd>{data.company_name ?? "—"}</dd>
          <dt>Address</dt>
          <dd className="lines">{data.address_lines.join("\n") || "—"}</dd>
          <dt>Tax id</dt>
          <dd>{data.tax_id ?? "—"}</dd>
        </dl>
      )}
      {changing && data !== undefined ? <DetailsDialog details={data} onClose={() => setChanging(false)} /> : null}
    </section>
  )
}
