import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { ManagementKey, NewManagementKey } from "../../../client/Contract.ts"
import { api, wordsOf } from "../../data/Client.ts"
import { managementKeysQuery } from "../../data/Queries.ts"
import { Confirm, Dialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { SecretDialog } from "../../parts/SecretDialog.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"

const scopes: NewManagementKey["scopes"] = [
  ...(["keys:read", "keys:write", "projects:read", "projects:write", "webhooks:read", "webhooks:write"] as const),
  ...(["presets:read", "routing:write", "usage:read", "audit:read"] as const)
]

type Scope = (typeof scopes)[number]

const CreateDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [name, setName] = useState("")
  const [chosen, setChosen] = useState<ReadonlyArray<Scope>>(["usage:read"])
  const create = useMutation({
    mutationFn: () => api.call("console.management_keys.create", { body: { name, scopes: chosen } }),
    onSuccess: () => client.invalidateQueries(managementKeysQuery)
  })
  if (create.data !== undefined) {
    return (
      <SecretDialog
        title="The management key is ready"
        label="Management key"
        value={create.data.key}
        onClose={onClose}
      />
    )
  }
  return (
    <Dialog title="Create a management key" onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <Field label="Name" wrong={create.error === null ? undefined : wordsOf(create.error).message}>
          {(props) => (
            <input
              {...props}
              className="input"
              required
              maxLength={100}
              autoFocus
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <fieldset className="scopes">
          <legend className="label">Scopes</legend>
          {scopes.map((scope) => (
            <label key={scope}>
              <input
                type="checkbox"
                checked={chosen.includes(scope)}
                onChange={(event) =>
                  setChosen(event.target.checked ? [...chosen, scope] : chosen.filter((one) => one !== scope))
                }
              />{" "}
              <code>{scope}</code>
            </label>
          ))}
        </fieldset>
        <div className="actions end">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || chosen.length === 0}>
            Create management key
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const RevokeDialog = ({ of, onClose }: { readonly of: ManagementKey; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const revoke = useMutation({
    mutationFn: () => api.call("console.management_keys.revoke", { path: { key_id: of.id } }),
    onSuccess: async () => {
      await client.invalidateQueries(managementKeysQuery)
      toast(`Revoked ${of.name}.`)
      onClose()
    }
  })
  return (
    <Confirm
      title={`Revoke ${of.name}?`}
      name={of.name}
      action="Revoke management key"
      busy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      {revoke.isError ? <Failed error={revoke.error} /> : null}
      Programs with this key get 401 from now on. It cannot be undone.
    </Confirm>
  )
}

/** Keys with which the owner's programs manage the account. */
export const ManagementKeys = () => {
  const keys = useQuery(managementKeysQuery)
  const [creating, setCreating] = useState(false)
  const [revoked, setRevoked] = useState<ManagementKey>()
  return (
    <section className="card" aria-label="Management keys">
      <header>
        <h2>Management keys</h2>
        <button type="button" className="button" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          Create management key
        </button>
      </header>
      {keys.isError ? <Failed error={keys.error} onRetry={() => void keys.refetch()} /> : null}
      {keys.isPending ? <SkeletonRows rows={3} /> : null}
      {keys.data?.length === 0 ? (
        <Empty title="There is no management key.">
          <p>With one, your programs create keys, set budgets and read usage.</p>
        </Empty>
      ) : null}
      {keys.data === undefined || keys.data.length === 0 ? null : (
        <div className="scroll" tabIndex={0} role="region" aria-label="Table: management keys">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Key</th>
                <th scope="col">Status</th>
                <th scope="col">Scopes</th>
                <th scope="col">Created</th>
                <th scope="col">
                  <span className="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.data.map((key) => (
                <tr key={key.id} className={key.status === "active" ? "" : "off"}>
                  <th scope="row" className="clip" title={key.name}>
                    {key.name}
                  </th>
                  <td>
                    <code>
                      {key.prefix}…{key.last4}
                    </code>
                  </td>
                  <td>
                    <Status of={key.status} />
                  </td>
                  <td className="clip" title={key.scopes.join(", ")}>
                    {key.scopes.length === scopes.length ? "all" : key.scopes.join(", ")}
                  </td>
                  <td>
                    <Ago at={key.created_at} />
                  </td>
                  <td className="right">
                    {key.status === "active" ? (
                      <button type="button" className="button plain tiny danger" onClick={() => setRevoked(key)}>
                        Revoke<span className="unseen"> {key.name}</span>
                      </button>
                    ) : null}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {creating ? <CreateDialog onClose={() => setCreating(false)} /> : null}
      {revoked === undefined ? null : <RevokeDialog of={revoked} onClose={() => setRevoked(undefined)} />}
    </section>
  )
}
