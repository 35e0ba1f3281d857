import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { WebhookAttempt, WebhookDelivery } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { deliveriesQuery, MAX_DELIVERIES } from "../../data/Queries.ts"
import { duration } from "../../format/Figures.ts"
import { Id } from "../../parts/Copy.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { toast, toastError } from "../../parts/Toasts.tsx"

const resultOf = ({ error, status_code: status }: WebhookAttempt): string => error ?? `status ${status}`

const lastOf = ({ attempts }: WebhookDelivery): string => {
  const last = attempts.at(-1)
  return last === undefined ? "no attempt yet" : `${resultOf(last)}, ${duration(last.duration_ms)}`
}

/** The attempts of a delivery, with the start of each response of the endpoint. */
const Attempts = ({ of }: { readonly of: WebhookDelivery }) => (
  <div className="attempts">
    <span className="actions small muted">
      <code>webhook-id</code> <Id value={of.event_id} />
      {of.next_attempt_at === null ? null : (
        <span>
          next attempt <Ago at={of.next_attempt_at} />
        </span>
      )}
    </span>
    <ol>
      {of.attempts.map((attempt) => (
        <li key={`${attempt.started_at} ${attempt.duration_ms}`}>
          <span className="actions small">
            <Ago at={attempt.started_at} />
            <strong>{resultOf(attempt)}</strong>
            <span className="muted number">{duration(attempt.duration_ms)}</span>
          </span>
          {attempt.response === null || attempt.response === "" ? (
            <span className="small muted">The response had no body.</span>
          ) : (
            <pre className="changes" tabIndex={0} aria-label="Response body">
              {attempt.response}
            </pre>
          )}
        </li>
      ))}
    </ol>
  </div>
)

interface RowProps {
  readonly of: WebhookDelivery
  readonly busy: boolean
  readonly onRedeliver: () => void
}

const Row = ({ busy, of, onRedeliver }: RowProps) => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <tr>
        <th scope="row">
          <button
            type="button"
            className="button plain tiny disclose"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            <code>{of.event_type}</code>
          </button>
        </th>
        <td>
          <Status of={of.status} />
        </td>
        <td className="right number">{of.attempt_count}</td>
        <td className="clip">{lastOf(of)}</td>
        <td>
          <Ago at={of.created_at} />
        </td>
        <td>
          <RowActions of={of.event_type} actions={[{ name: "Redeliver", disabled: busy, run: onRedeliver }]} />
        </td>
      </tr>
      {open ? (
        <tr>
          <td colSpan={6}>
            <Attempts of={of} />
          </td>
        </tr>
      ) : null}
    </>
  )
}

/** The newest deliveries to an endpoint, with the result of each attempt. */
export const Deliveries = ({ webhookId }: { readonly webhookId: string }) => {
  const client = useQueryClient()
  const deliveries = useQuery(deliveriesQuery(webhookId))
  const redeliver = useMutation({
    mutationFn: (id: string) =>
      api.call("management.webhooks.redeliver", { path: { webhook_id: webhookId, delivery_id: id } }),
    onSuccess: async () => {
      await client.invalidateQueries(deliveriesQuery(webhookId))
      toast("The gateway sends the event again.")
    },
    onError: toastError
  })
  if (deliveries.isError) return <Failed error={deliveries.error} onRetry={() => void deliveries.refetch()} />
  if (deliveries.isPending) return <SkeletonRows rows={3} />
  if (deliveries.data.length === 0) {
    return (
      <Empty title="There is no delivery yet.">
        <p>Test events are not listed here. The console shows their result when you send them.</p>
      </Empty>
    )
  }
  return (
    <>
      <Table
        label="deliveries"
        columns={["Event", "Status", { right: "Attempts" }, "Last attempt", "Created", actionsColumn]}
      >
        {deliveries.data.map((of) => (
          <Row key={of.id} of={of} busy={redeliver.isPending} onRedeliver={() => redeliver.mutate(of.id)} />
        ))}
      </Table>
      {deliveries.data.length < MAX_DELIVERIES ? null : (
        <p className="body muted small">These are the newest {MAX_DELIVERIES} deliveries. The API lists the others.</p>
      )}
    </>
  )
}
