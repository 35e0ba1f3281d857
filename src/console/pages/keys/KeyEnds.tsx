/** The two ends of a key: another secret, or none. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { ManagedKey } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { holdKey, useHeldKey } from "../../data/Held.ts"
import { keysQuery } from "../../data/Queries.ts"
import { Confirm, Dialog, FormDialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { Failed } from "../../parts/States.tsx"
import { NewSecret } from "./KeyDialog.tsx"

interface EndProps {
  readonly of: ManagedKey
  readonly onClose: () => void
}

const graces = [
  { seconds: 0, name: "at once" },
  { seconds: 3_600, name: "in an hour" },
  { seconds: 86_400, name: "in a day" }
]

export const RotateKey = ({ of, onClose }: EndProps) => {
  const client = useQueryClient()
  const [grace, setGrace] = useState(3_600)
  const rotate = useMutation({
    mutationFn: () => api.call("management.keys.rotate", { path: { key_id: of.id }, body: { grace_seconds: grace } }),
    onSuccess: async ({ data, key }) => {
      holdKey({ id: data.id, name: data.name, secret: key })
      await client.invalidateQueries(keysQuery)
    }
  })
  if (rotate.data !== undefined) {
    return (
      <Dialog title="The new key is ready" onClose={onClose} wide>
        <NewSecret secret={rotate.data.key} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <FormDialog
      title={`Rotate ${of.name}`}
      action="Rotate key"
      busy={rotate.isPending}
      onSubmit={() => rotate.mutate()}
      onClose={onClose}
    >
      {rotate.isError ? <Failed error={rotate.error} /> : null}
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

export const RevokeKey = ({ of, onClose }: EndProps) => {
  const held = useHeldKey()
  return (
    <Confirm
      title={`Revoke ${of.name}?`}
      name={of.name}
      action="Revoke key"
      run={() => api.call("management.keys.revoke", { path: { key_id: of.id } })}
      changes={[keysQuery]}
      done={`Revoked ${of.name}.`}
      onDone={() => {
        if (held?.id === of.id) holdKey(undefined)
        onClose()
      }}
      onClose={onClose}
    >
      The gateway answers 401 to this key from now on. You cannot undo this. Running requests finish, and receipts stay.
    </Confirm>
  )
}
