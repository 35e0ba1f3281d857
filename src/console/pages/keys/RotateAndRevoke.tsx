/** Dialogs that replace or revoke a key. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { ManagedKey } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { keepKey, useKeyInMemory } from "../../data/KeyInMemory.ts"
import { keysQuery } from "../../data/Queries.ts"
import { Confirm, Dialog, FormDialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { NewSecret } from "./KeyDialog.tsx"

interface KeyProps {
  readonly of: ManagedKey
  readonly onClose: () => void
}

const graces = [
  { seconds: 0, name: "at once" },
  { seconds: 3_600, name: "in an hour" },
  { seconds: 86_400, name: "in a day" }
]

/** Replaces a key. The old one works until the chosen time. */
export const RotateKey = ({ of, onClose }: KeyProps) => {
  const client = useQueryClient()
  const [grace, setGrace] = useState(3_600)
  const rotate = useMutation({
    mutationFn: () => api.call("management.keys.rotate", { path: { key_id: of.id }, body: { grace_seconds: grace } }),
    onSuccess: async ({ data, key }) => {
      keepKey({ id: data.id, name: data.name, secret: key })
      await client.invalidateQueries(keysQuery)
    }
  })
  if (rotate.data !== undefined) {
    return (
      <Dialog title="The new key is ready" closes="buttons" onClose={onClose} wide>
        <NewSecret secret={rotate.data.key} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <FormDialog
      title={`Rotate ${of.name}`}
      action="Rotate key"
      busy={rotate.isPending}
      error={rotate.error}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      <p className="muted">A new key takes over the name, project, budget and spend of this one.</p>
      <Field label="The old key stops working" hint="Leave enough time to replace the old key in every program.">
        {(props) => (
          <select
            {...props}
            className="select"
            value={grace}
            onChange={(event) => setGrace(Number(event.target.value))}
          >
            {graces.map(({ name, seconds }) => (
              <option key={seconds} value={seconds}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </FormDialog>
  )
}

/** Revokes a key after the owner typed its name. */
export const RevokeKey = ({ of, onClose }: KeyProps) => {
  const pageKey = useKeyInMemory()
  return (
    <Confirm
      title={`Revoke ${of.name}?`}
      name={of.name}
      action="Revoke key"
      run={() => api.call("management.keys.revoke", { path: { key_id: of.id } })}
      changes={[keysQuery]}
      done={`Revoked ${of.name}.`}
      onDone={() => {
        if (pageKey?.id === of.id) keepKey(undefined)
        onClose()
      }}
      onClose={onClose}
    >
      The gateway answers 401 to this key from now on. You cannot undo this. Running requests finish, and receipts stay.
    </Confirm>
  )
}
