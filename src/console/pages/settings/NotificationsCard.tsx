import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { NotificationChoices } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { LOW_BALANCE_USD } from "../../data/Amounts.ts"
import { notificationsQuery, sessionQuery } from "../../data/Queries.ts"
import { money } from "../../format/Money.ts"
import { Failed, SkeletonRows } from "../../parts/States.tsx"

type Choices = NotificationChoices["data"]
type Kind = Exclude<keyof Choices, "object">
type Change = Partial<Record<Kind, boolean>>

const kinds: ReadonlyArray<{ kind: Kind; name: string; words: string }> = [
  { kind: "low_balance", name: "Low balance", words: `The balance falls below ${money(LOW_BALANCE_USD)}.` },
  { kind: "budget_alert", name: "Budgets", words: "A key or a project has spent 80% or 100% of its budget." },
  {
    kind: "webhook_disabled",
    name: "Disabled webhooks",
    words: "The gateway disables an endpoint that failed for 5 days or answered 410."
  },
  {
    kind: "sign_in",
    name: "New sign-ins",
    words: "A sign-in comes from a browser or an address that the account has not used for 90 days."
  },
  { kind: "key_change", name: "Key changes", words: "A key is created, rotated or revoked." }
]

/** Chooses the notifications that the gateway sends by email. The console saves each choice at once. */
export const NotificationsCard = () => {
  const client = useQueryClient()
  const { data, error, isPending, refetch } = useQuery(notificationsQuery)
  const { data: session } = useQuery(sessionQuery)
  // A box changes at the click, before the gateway saved the choice, and changes back if saving fails.
  const [chosen, setChosen] = useState<Change>({})
  const save = useMutation({
    mutationFn: (change: Change) => api.call("console.notifications.update", { body: change }),
    onSuccess: ({ data: saved }) => client.setQueryData(notificationsQuery.queryKey, saved),
    onError: () => {
      setChosen({})
      return client.invalidateQueries(notificationsQuery)
    }
  })
  const choose = (change: Change) => {
    setChosen((before) => ({ ...before, ...change }))
    save.mutate(change)
  }
  return (
    <section className="card" aria-label="Notifications">
      <header>
        <h2>Notifications</h2>
      </header>
      {error === null ? null : <Failed error={error} onRetry={() => void refetch()} />}
      {save.isError ? <Failed error={save.error} /> : null}
      {isPending ? <SkeletonRows rows={9} /> : null}
      {data === undefined ? null : (
        <div className="body choices" role="group" aria-label="Emails">
          <p className="muted">
            The gateway sends these emails to {session?.account.email}, at most one of each kind in ten minutes:
          </p>
          {kinds.map(({ kind, name, words }) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={chosen[kind] ?? data[kind]}
                onChange={({ target }) => choose({ [kind]: target.checked })}
              />
              <span>
                <span className="strong">{name}</span>
                <span className="muted">{words}</span>
              </span>
            </label>
          ))}
        </div>
      )}
    </section>
  )
}
