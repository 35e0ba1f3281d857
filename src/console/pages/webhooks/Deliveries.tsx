import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { WebhookDelivery } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { deliveriesQuery } from "../../data/Queries.ts"
import { duration } from "../../format/Figures.ts"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"

const lastOf = ({ attempts }: WebhookDelivery): string => {
  const last = attempts.at(-1)
  if (last === undefined) return "no attempt yet"
  return `${last.error ?? `status ${last.status_code}`}, ${duration(last.duration_ms)}`
}

/** What an endpoint was told, and how each attempt ended. */
export const Deliveries = ({ webhookId }: { readonly webhookId: string }) => {
  const client = useQueryClient()
  const deliveries = useQuery(deliveriesQuery(webhookId))
  const again = useMutation({
    mutationFn: (id: string) =>
      api.call("management.webhooks.redeliver", { path: { webhook_id: webhookId, delivery_id: id } }),
    onSuccess: async () => {
      await client.invalidateQueries(deliveriesQuery(webhookId))
      toast("The event will be delivered once more.")
    },
    onError: () => toast("The event could not be delivered once more.")
  })
  if (deliveries.isError) return <Failed error={deliveries.error} onRetry={() => void deliveries.refetch()} />
  if (deliveries.isPending) return <SkeletonRows rows={3} />
  if (deliveries.data.length === 0) return <Empty title="Nothing was delivered yet." />
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Table: deliveries">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">Status</th>
            <th scope="col" className="right">
              Attempts
            </th>
            <th scope="col">Last attempt</th>
            <th scope="col">Created</th>
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {deliveries.data.map((delivery) => (
            <tr key={delivery.id}>
              <th scope="row">{delivery.event_type}</th>
              <td>
                <Status of={delivery.status} />
              </td>
              <td className="right number">{delivery.attempt_count}</td>
              <td className="clip" title={delivery.attempts.at(-1)?.response ?? undefined}>
                {lastOf(delivery)}
              </td>
              <td>
                <Ago at={delivery.created_at} />
              </td>
              <td className="right">
                <button
                  type="button"
                  className="button plain tiny"
                  disabled={again.isPending}
                  onClick={() => again.mutate(delivery.id)}
                >
                  Redeliver
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
