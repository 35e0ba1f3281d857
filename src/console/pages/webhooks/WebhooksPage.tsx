import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { WebhookEndpoint } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { api } from "../../data/Client.ts"
import { webhooksQuery } from "../../data/Queries.ts"
import { duration } from "../../format/Figures.ts"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { SecretDialog } from "../../parts/SecretDialog.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { WebhookDialog } from "./WebhookDialog.tsx"

/** Sends a test event, and says what came back. */
const useTest = () =>
  useMutation({
    mutationFn: (id: string) => api.call("management.webhooks.test", { path: { webhook_id: id } }),
    onSuccess: ({ data }) =>
      toast(
        data.delivered
          ? `Delivered: ${data.status_code} in ${duration(data.duration_ms)}.`
          : `Not delivered: ${data.error ?? `status ${data.status_code}`}.`
      ),
    onError: () => toast("The test event could not be sent.")
  })

const RotateSecret = ({ of, onClose }: { readonly of: WebhookEndpoint; readonly onClose: () => void }) => {
  const rotate = useMutation({
    mutationFn: () => api.call("management.webhooks.rotate_secret", { path: { webhook_id: of.id } })
  })
  if (rotate.data !== undefined) {
    return (
      <SecretDialog title="The new secret" label="Signing secret" value={rotate.data.data.secret} onClose={onClose} />
    )
  }
  return (
    <Confirm
      title="Rotate the signing secret?"
      action="Rotate secret"
      busy={rotate.isPending}
      onConfirm={() => rotate.mutate()}
      onClose={onClose}
    >
      {rotate.isError ? <Failed error={rotate.error} /> : null}
      Events carry signatures of both secrets for 24 hours.
    </Confirm>
  )
}

const DeleteWebhook = ({ of, onClose }: { readonly of: WebhookEndpoint; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const remove = useMutation({
    mutationFn: () => api.call("management.webhooks.delete", { path: { webhook_id: of.id } }),
    onSuccess: async () => {
      await client.invalidateQueries(webhooksQuery)
      toast("Deleted the webhook.")
      onClose()
    }
  })
  return (
    <Confirm
      title="Delete this webhook?"
      name={new URL(of.url).host}
      action="Delete webhook"
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {remove.isError ? <Failed error={remove.error} /> : null}
      Its secret and its deliveries go with it. It cannot be undone.
    </Confirm>
  )
}

interface EndpointProps {
  readonly of: WebhookEndpoint
  readonly onOpen: (what: "edit" | "rotate" | "delete") => void
}

const Endpoint = ({ of, onOpen }: EndpointProps) => {
  const test = useTest()
  const [shown, setShown] = useState(false)
  return (
    <section className="card" aria-label={of.url}>
      <header>
        <span className="clip">
          <code>{of.url}</code>
        </span>
        <Status of={of.status} />
        <span className="actions">
          <button type="button" className="button tiny" disabled={test.isPending} onClick={() => test.mutate(of.id)}>
            Send test event
          </button>
          <button type="button" className="button tiny" onClick={() => onOpen("edit")}>
            Edit
          </button>
          <button type="button" className="button tiny" onClick={() => onOpen("rotate")}>
            Rotate secret
          </button>
          <button type="button" className="button tiny danger" onClick={() => onOpen("delete")}>
            Delete
          </button>
        </span>
      </header>
      <div className="body grid">
        <div className="chips">
          {of.events.map((event) => (
            <span key={event} className="chip">
              {event}
            </span>
          ))}
          <span className="muted small">
            created <Ago at={of.created_at} />
          </span>
        </div>
        <div>
          <button type="button" className="button tiny" aria-expanded={shown} onClick={() => setShown(!shown)}>
            {shown ? "Hide deliveries" : "Show deliveries"}
          </button>
        </div>
      </div>
      {shown ? <Deliveries webhookId={of.id} /> : null}
    </section>
  )
}

export const WebhooksPage = () => {
  const webhooks = useQuery(webhooksQuery)
  const [open, setOpen] = useState<{ what: "edit" | "rotate" | "delete"; of: WebhookEndpoint } | "new">()
  const close = () => setOpen(undefined)
  const create = (
    <button type="button" className="button primary" onClick={() => setOpen("new")}>
      <Icon name="plus" />
      Create webhook
    </button>
  )
  return (
    <Page title="Webhooks" tools={create}>
      {webhooks.isError ? <Failed error={webhooks.error} onRetry={() => void webhooks.refetch()} /> : null}
      {webhooks.isPending ? (
        <section className="card">
          <SkeletonRows />
        </section>
      ) : null}
      {webhooks.data?.length === 0 ? (
        <section className="card">
          <Empty title="There is no webhook yet." action={create}>
            <p>
              The gateway tells your endpoint when a video ends or a budget is nearly used up, signed by Standard
              Webhooks.
            </p>
          </Empty>
        </section>
      ) : null}
      {webhooks.data?.map((of) => (
        <Endpoint key={of.id} of={of} onOpen={(what) => setOpen({ what, of })} />
      ))}
      {open === "new" ? <WebhookDialog of={undefined} onClose={close} /> : null}
      {open === undefined || open === "new" ? null : open.what === "edit" ? (
        <WebhookDialog of={open.of} onClose={close} />
      ) : open.what === "rotate" ? (
        <RotateSecret of={open.of} onClose={close} />
      ) : (
        <DeleteWebhook of={open.of} onClose={close} />
      )}
    </Page>
  )
}
