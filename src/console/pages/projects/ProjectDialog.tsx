import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Project } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { projectsQuery } from "../../data/Queries.ts"
import { dataPolicies, policyOf, policyWords } from "../../data/Routing.ts"
import { BudgetFields, budgetOf, draftOf, isBudget } from "../../parts/Budget.tsx"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Field, NameField } from "../../parts/Fields.tsx"
import { RoutingFields } from "../../parts/Routing.tsx"
import { toast } from "../../parts/Toasts.tsx"

/** Creates or edits a project. */
export const ProjectDialog = ({ of, onClose }: { readonly of: Project | undefined; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [name, setName] = useState(of?.name ?? "")
  const [policy, setPolicy] = useState<Project["data_policy"]>(of?.data_policy ?? "default")
  const [budget, setBudget] = useState(draftOf(of?.budget_cents ?? null, of?.budget_period ?? null))
  const [routing, setRouting] = useState(of?.routing ?? {})
  const save = useMutation({
    mutationFn: () => {
      const body = { name, data_policy: policy, routing: policyOf(routing), ...budgetOf(budget) }
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
    <FormDialog
      title={of === undefined ? "Create a project" : `Edit ${of.name}`}
      action={of === undefined ? "Create project" : "Save"}
      busy={save.isPending}
      error={save.error}
      ready={isBudget(budget)}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} />
      <Field label="Data policy" hint="The least strict policy that requests of its keys may have.">
        {(props) => (
          <select
            {...props}
            className="select"
            value={policy}
            onChange={(event) => setPolicy(event.target.value as Project["data_policy"])}
          >
            {dataPolicies.map(({ name, value }) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <BudgetFields draft={budget} onChange={setBudget} />
      <details>
        <summary>
          Routing <span className="muted">{policyWords(policyOf(routing)) ?? "default"}</span>
        </summary>
        <p className="small muted">These options apply when neither the request nor its key sets any.</p>
        <RoutingFields withoutDataPolicy policy={routing} onChange={setRouting} />
      </details>
    </FormDialog>
  )
}
