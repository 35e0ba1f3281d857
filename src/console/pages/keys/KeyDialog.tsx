import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { ManagedKey } from "../../../client/Contract.ts"
import { api, origin, wordsOf } from "../../data/Client.ts"
import { holdKey } from "../../data/Held.ts"
import { keysQuery, projectsQuery } from "../../data/Queries.ts"
import { firstCall, snippetsOf } from "../../data/Snippets.ts"
import { BudgetFields, budgetOf, draftOf, isBudget } from "../../parts/Budget.tsx"
import { Code, Secret } from "../../parts/Copy.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { toast } from "../../parts/Toasts.tsx"

/** A new secret, with a request to try it. */
export const NewSecret = ({ onClose, secret }: { readonly secret: string; readonly onClose: () => void }) => (
  <>
    <Secret label="Key" value={secret} />
    <Code snippets={snippetsOf(firstCall(origin, secret)).slice(0, 3)} />
    <div className="actions end">
      <button type="button" className="button primary" onClick={onClose}>
        I have stored it
      </button>
    </div>
  </>
)

interface FormProps {
  readonly of: ManagedKey | undefined
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

const KeyForm = ({ of, onClose, onSecret }: FormProps) => {
  const client = useQueryClient()
  const { data: projects = [] } = useQuery(projectsQuery)
  const [name, setName] = useState(of?.name ?? "")
  const [project, setProject] = useState(of?.project_id ?? "")
  const [budget, setBudget] = useState(draftOf(of?.budget_cents ?? null, of?.budget_period ?? null))
  const save = useMutation({
    mutationFn: async () => {
      const body = { name, project_id: project === "" ? null : project, ...budgetOf(budget) }
      if (of !== undefined) {
        await api.call("management.keys.update", { path: { key_id: of.id }, body })
        return undefined
      }
      return api.call("management.keys.create", { body })
    },
    onSuccess: async (made) => {
      await client.invalidateQueries(keysQuery)
      if (made === undefined) {
        toast(`Saved ${name}.`)
        return onClose()
      }
      holdKey({ id: made.data.id, name: made.data.name, secret: made.key })
      onSecret(made.key)
    }
  })
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate()
      }}
    >
      <Field
        label="Name"
        hint="What uses the key, such as “production backend”."
        wrong={save.error === null ? undefined : wordsOf(save.error).message}
      >
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
      <Field label="Project" hint="The key follows the project's routing, data policy and budget.">
        {(props) => (
          <select {...props} className="select" value={project} onChange={(event) => setProject(event.target.value)}>
            <option value="">no project</option>
            {projects
              .filter(({ id, status }) => status === "active" || id === project)
              .map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
          </select>
        )}
      </Field>
      <BudgetFields draft={budget} onChange={setBudget} />
      <div className="actions end">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button primary" disabled={save.isPending || !isBudget(budget)}>
          {of === undefined ? "Create key" : "Save"}
        </button>
      </div>
    </form>
  )
}

/** Creates a key, or changes one. */
export const KeyDialog = ({ of, onClose }: { readonly of?: ManagedKey; readonly onClose: () => void }) => {
  const [secret, setSecret] = useState<string>()
  const title = secret !== undefined ? "The key is ready" : of === undefined ? "Create a key" : `Edit ${of.name}`
  return (
    <Dialog title={title} onClose={onClose} wide={secret !== undefined}>
      {secret === undefined ? (
        <KeyForm of={of} onClose={onClose} onSecret={setSecret} />
      ) : (
        <NewSecret secret={secret} onClose={onClose} />
      )}
    </Dialog>
  )
}
