import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { WebhookEndpoint } from "../../../client/Contract.ts"
import { ListPage } from "../../app/ListPage.tsx"
import { api } from "../../data/Client.ts"
import { MAX_LISTED, webhooksQuery } from "../../data/Queries.ts"
import { duration } from "../../format/Figures.ts"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { SecretDialog } from "../../parts/SecretDialog.tsx"
import { toast, toastError } from "../../parts/Toasts.tsx"
import { Deliveries } from "./Deliveries.tsx"
import { WebhookDialog } from "./WebhookDialog.tsx"

/** Sends a test event and shows the result. */
const useTest = () =>
  useMutation({
    mutationFn: (id: string) => api.call("management.webhooks.test", { path: { webhook_id: id } }),
    onSuccess: ({ data }) =>
      toast(
        data.delivered
          ? `Delivered: ${data.status_code} in ${duration(data.duration_ms)}.`
          : `Not delivered: ${data.error ?? `status ${data.status_code}`}.`
      ),
    onError: toastError
  })

/** Enables a disabled endpoint. The gateway then also sends the events that wait for it. */
const useEnable = () => {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      api.call("management.webhooks.update", { path: { webhook_id: id }, body: { status: "enabled" } }),
    onSuccess: async () => {
      await client.invalidateQueries(webhooksQuery)
      toast("Enabled the webhook.")
    },
    onError: toastError
  })
}

interface WebhookProps {
  readonly of: WebhookEndpoint
  readonly onClose: () => void
}

const RotateSecret = ({ of, onClose }: WebhookProps) => {
  const [secret, setSecret] = useState<string>()
  if (secret !== undefined) {
    return <SecretDialog title="The new secret" label="Signing secret" value={secret} onClose={onClose} />
  }
  return (
    <Confirm
      title="Rotate the signing secret?"
      action="Rotate secret"
      run={() => api.call("management.webhooks.rotate_secret", { path: { webhook_id: of.id } })}
      onDone={({ data }) => setSecret(data.secret)}
      onClose={onClose}
    >
      The gateway signs events with both secrets for 24 hours. Then the old one stops working.
    </Confirm>
  )
}

const DeleteWebhook = ({ of, onClose }: WebhookProps) => (
  <Confirm
    title="Delete this webhook?"
    name={new URL(of.url).host}
    action="Delete webhook"
    run={() => api.call("management.webhooks.delete", { path: { webhook_id: of.id } })}
    changes={[webhooksQuery]}
    done="Deleted the webhook."
    onClose={onClose}
  >
    The gateway deletes its secret and its deliveries. You cannot undo this.
  </Confirm>
)

interface EndpointProps {
  readonly of: WebhookEndpoint
  readonly onOpen: (what: "edit" | "rotate" | "delete") => void
}

const Endpoint = ({ of, onOpen }: EndpointProps) => {
  const test = useTest()
  const enable = useEnable()
  const [shown, setShown] = useState(false)
  return (
    <section className="card" aria-label={of.url}>
      <header>
        <code className="clip" title={of.url}>
          {of.url}
        </code>
        <Status of={of.status} />
        <span className="actions">
          <button type="button" className="button tiny" disabled={test.isPending} onClick={() => test.mutate(of.id)}>
            {test.isPending ? "Sending…" : "Send test event"}
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
      <div className="body actions">
        <span className="chips">
          {of.events.map((event) => (
            <code key={event} className="chip">
              {event}
            </code>
          ))}
        </span>
        <span className="muted small">
          created <Ago at={of.created_at} />
        </span>
        <button type="button" className="button tiny last" aria-expanded={shown} onClick={() => setShown(!shown)}>
          {shown ? "Hide deliveries" : "Show deliveries"}
        </button>
      </div>
      {of.status === "disabled" ? (
        <p className="body actions small">
          The gateway sends it no events, because it answered 410, failed for five days, or an owner disabled it.
          <button
            type="button"
            className="button tiny last"
            disabled={enable.isPending}
            onClick={() => enable.mutate(of.id)}
          >
            Enable
          </button>
        </p>
      ) : null}
      {shown ? <Deliveries webhookId={of.id} /> : null}
    </section>
  )
}

/** The page that lists, creates, edits, tests and deletes webhook endpoints. */
export const WebhooksPage = () => {
  const webhooks = useQuery(webhooksQuery)
  const [open, setOpen] = useState<{ what: "edit" | "rotate" | "delete"; of: WebhookEndpoint } | "new">()
  const close = () => setOpen(undefined)
  return (
    <ListPage
      cards
      title="Webhooks"
      query={webhooks}
      most={MAX_LISTED}
      create={{ name: "Create webhook", run: () => setOpen("new") }}
      empty={{
        title: "There is no webhook yet.",
        about: "The gateway sends your endpoint a signed event when a video ends or a budget reaches its threshold."
      }}
      dialogs={
        open === undefined ? null : open === "new" ? (
          <WebhookDialog of={undefined} onClose={close} />
        ) : open.what === "edit" ? (
          <WebhookDialog of={open.of} onClose={close} />
        ) : open.what === "rotate" ? (
          <RotateSecret of={open.of} onClose={close} />
        ) : (
          <DeleteWebhook of={open.of} onClose={close} />
        )
      }
    >
      {(rows) => rows.map((of) => <Endpoint key={of.id} of={of} onOpen={(what) => setOpen({ what, of })} />)}
    </ListPage>
  )
}
