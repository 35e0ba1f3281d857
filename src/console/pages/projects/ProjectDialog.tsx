import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Project } from "../../../client/Contract.ts"
import { api, wordsOf } from "../../data/Client.ts"
import { projectsQuery } from "../../data/Queries.ts"
import { BudgetFields, budgetOf, draftOf, isBudget } from "../../parts/Budget.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { toast } from "../../parts/Toasts.tsx"

const policies = [
  { value: "default", name: "Default: any provider" },
  { value: "no_training", name: "No training: providers that do not train on data" },
  { value: "zero_retention", name: "Zero retention: providers that keep nothing" }
] as const

/** Creates a project, or changes one. */
export const ProjectDialog = ({ of, onClose }: { readonly of: Project | undefined; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [name, setName] = useState(of?.name ?? "")
  const [policy, setPolicy] = useState<Project["data_policy"]>(of?.data_policy ?? "default")
  const [budget, setBudget] = useState(draftOf(of?.budget_cents ?? null, of?.budget_period ?? null))
  const save = useMutation({
    mutationFn: () => {
      const body = { name, data_policy: policy, ...budgetOf(budget) }
      return of === undefined
        ? api.call("management.projects.create", { body })
        : api.call("management.projects.update", { path: { project_id: of.id }, body })
    },
    onSuccess: async () => {
      await client.invalidateQueries(projectsQuery)
      toast(of === undefined ? `Created ${name}.` : `Saved ${name}.`)
      onClose()
    }
  })
  return (
    <Dialog title={of === undefined ? "Create a project" : `Edit ${of.name}`} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Field label="Name" wrong={save.error === null ? undefined : wordsOf(save.error).message}>
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
        <Field label="Data policy" hint="It binds every key of the project.">
          {(props) => (
            <select
              {...props}
              className="select"
              value={policy}
              onChange={(event) => setPolicy(event.target.value as Project["data_policy"])}
            >
              {policies.map(({ name, value }) => (
                <option key={value} value={value}>
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
            {of === undefined ? "Create project" : "Save"}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
