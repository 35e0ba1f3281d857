import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { ManagementKey, NewManagementKey } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { managementKeysQuery } from "../../data/Queries.ts"
import { Confirm, FormDialog } from "../../parts/Dialog.tsx"
import { Checks, NameField } from "../../parts/Fields.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { SecretDialog } from "../../parts/SecretDialog.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"

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
    <FormDialog
      title="Create a management key"
      action="Create management key"
      busy={create.isPending}
      error={create.error}
      ready={chosen.length > 0}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <NameField hint="The program that uses the key." value={name} onChange={setName} />
      <Checks legend="Scopes" options={scopes.map((value) => ({ value }))} chosen={chosen} onChange={setChosen} />
    </FormDialog>
  )
}

const RevokeDialog = ({ of, onClose }: { readonly of: ManagementKey; readonly onClose: () => void }) => (
  <Confirm
    title={`Revoke ${of.name}?`}
    name={of.name}
    action="Revoke management key"
    run={() => api.call("console.management_keys.revoke", { path: { key_id: of.id } })}
    changes={[managementKeysQuery]}
    done={`Revoked ${of.name}.`}
    onClose={onClose}
  >
    The gateway answers 401 to this key from now on. You cannot undo this.
  </Confirm>
)

const Row = ({ of, onRevoke }: { readonly of: ManagementKey; readonly onRevoke: () => void }) => (
  <tr className={of.status === "active" ? "" : "off"}>
    <th scope="row">
      <span className="stack">
        <span className="clip" title={of.name}>
          {of.name}
        </span>
        <code className="muted">
          {of.prefix}…{of.last4}
        </code>
      </span>
    </th>
    <td>
      <Status of={of.status} />
    </td>
    <td className="clip" title={of.scopes.join(", ")}>
      {of.scopes.length === scopes.length ? "all" : of.scopes.join(", ")}
    </td>
    <td>
      <Ago at={of.created_at} />
    </td>
    <td>
      {of.status === "active" ? (
        <RowActions of={of.name} actions={[{ name: "Revoke", danger: true, run: onRevoke }]} />
      ) : null}
    </td>
  </tr>
)

/** The management keys, with which programs manage the account. */
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
        <Empty title="There is no management key yet.">
          <p>Programs use a management key to create keys, set budgets and read usage.</p>
        </Empty>
      ) : null}
      {keys.data === undefined || keys.data.length === 0 ? null : (
        <Table label="management keys" columns={["Name", "Status", "Scopes", "Created", actionsColumn]}>
          {keys.data.map((key) => (
            <Row key={key.id} of={key} onRevoke={() => setRevoked(key)} />
          ))}
        </Table>
      )}
      {creating ? <CreateDialog onClose={() => setCreating(false)} /> : null}
      {revoked === undefined ? null : <RevokeDialog of={revoked} onClose={() => setRevoked(undefined)} />}
    </section>
  )
}
