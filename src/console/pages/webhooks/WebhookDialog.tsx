import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { NewWebhook, WebhookEndpoint } from "../../../client/Contract.ts"
import { api, wordsOf } from "../../data/Client.ts"
import { webhooksQuery } from "../../data/Queries.ts"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Checks, Field } from "../../parts/Fields.tsx"
import { SecretDialog } from "../../parts/SecretDialog.tsx"
import { toast } from "../../parts/Toasts.tsx"

type Event = NewWebhook["events"][number]

const events: ReadonlyArray<{ readonly event: Event; readonly when: string }> = [
  { event: "video.completed", when: "a video is ready" },
  { event: "video.failed", when: "a video failed and its cost was refunded" },
  { event: "budget.threshold", when: "80% or 100% of a budget is spent" }
]

/** Creates or edits a webhook endpoint. The secret of a new one is shown once. */
export const WebhookDialog = ({
  of,
  onClose
}: {
  readonly of: WebhookEndpoint | undefined
  readonly onClose: () => void
}) => {
  const client = useQueryClient()
  const [url, setUrl] = useState(of?.url ?? "")
  const [chosen, setChosen] = useState<ReadonlyArray<Event>>(of?.events ?? events.map(({ event }) => event))
  const [enabled, setEnabled] = useState(of?.status !== "disabled")
  const save = useMutation({
    mutationFn: async () => {
      if (of === undefined)
        return (await api.call("management.webhooks.create", { body: { url, events: chosen } })).data.secret
      const body = { url, events: chosen, status: enabled ? "enabled" : "disabled" } as const
      await api.call("management.webhooks.update", { path: { webhook_id: of.id }, body })
      return undefined
    },
    onSuccess: async (secret) => {
      await client.invalidateQueries(webhooksQuery)
      if (secret !== undefined) return
      toast("Saved the webhook.")
      onClose()
    }
  })
  if (save.data !== undefined) {
    return <SecretDialog title="The webhook is ready" label="Signing secret" value={save.data} onClose={onClose} />
  }
  return (
    <FormDialog
      title={of === undefined ? "Create a webhook" : "Edit webhook"}
      action={of === undefined ? "Create webhook" : "Save"}
      busy={save.isPending}
      ready={chosen.length > 0}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <Field
        label="URL"
        hint="A public https address that answers with a 2xx status."
        wrong={save.error === null ? undefined : wordsOf(save.error).message}
      >
        {(props) => (
          <input
            {...props}
            className="input"
            type="url"
            required
            autoFocus
            placeholder="https://example.com/webhooks"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        )}
      </Field>
      <Checks
        legend="Events"
        options={events.map(({ event, when }) => ({ value: event, title: `When ${when}` }))}
        chosen={chosen}
        onChange={setChosen}
      />
      {of === undefined ? null : (
        <label>
          <input type="checkbox" checked={enabled} onChange={(event) => setEnabled(event.target.checked)} /> Enabled
        </label>
      )}
    </FormDialog>
  )
}
