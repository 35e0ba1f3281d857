import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { ManagedKey } from "../../../client/Contract.ts"
import { api, origin } from "../../data/Client.ts"
import { keepKey } from "../../data/KeyInMemory.ts"
import { keysQuery, projectsQuery } from "../../data/Queries.ts"
import { policyOf, policyWords } from "../../data/Routing.ts"
import { firstCall, snippetsOf } from "../../data/Snippets.ts"
import { BudgetFields, budgetOf, draftOf, isBudget } from "../../parts/Budget.tsx"
import { Code, Secret } from "../../parts/Copy.tsx"
import { CloseButton, Dialog, FormDialog } from "../../parts/Dialog.tsx"
import { Checks, NameField, OptionalSelect } from "../../parts/Fields.tsx"
import { RoutingFields } from "../../parts/Routing.tsx"
import { toast } from "../../parts/Toasts.tsx"

/** A new secret, with example requests that use it. */
export const NewSecret = ({ onClose, secret }: { readonly secret: string; readonly onClose: () => void }) => (
  <>
    <Secret label="Key" value={secret} />
    <Code snippets={snippetsOf(firstCall(origin, secret)).slice(0, 3)} />
    <CloseButton name="I have stored it" onClose={onClose} />
  </>
)

type Tool = NonNullable<ManagedKey["allowed_tools"]>[number]

const tools: ReadonlyArray<Tool> = [
  ...(["chat", "list_models", "get_model", "estimate_cost", "generate_image", "create_video", "get_video"] as const),
  ...(["search", "embed", "rerank", "speak", "get_balance", "get_usage", "list_requests", "get_receipt"] as const)
]

interface ToolsProps {
  readonly chosen: ReadonlyArray<Tool> | null
  readonly onChange: (chosen: ReadonlyArray<Tool> | null) => void
}

const ToolsField = ({ chosen, onChange }: ToolsProps) => (
  <details>
    <summary>
      Tools for agents <span className="muted">{chosen === null ? "all" : `${chosen.length} of ${tools.length}`}</span>
    </summary>
    <div className="form">
      <p className="small muted">The tools of the MCP server at /mcp that an agent may call with this key.</p>
      <label className="check">
        <input
          type="checkbox"
          checked={chosen === null}
          onChange={({ target }) => onChange(target.checked ? null : [...tools])}
        />{" "}
        All tools, including new ones
      </label>
      {chosen === null ? null : (
        <Checks legend="Tools" options={tools.map((value) => ({ value }))} chosen={chosen} onChange={onChange} />
      )}
    </div>
  </details>
)

interface FormProps {
  readonly of: ManagedKey | undefined
  readonly projectId: string | undefined
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

const KeyForm = ({ of, onClose, onSecret, projectId }: FormProps) => {
  const client = useQueryClient()
  const { data: projects = [] } = useQuery(projectsQuery)
  const [name, setName] = useState(of?.name ?? "")
  const [project, setProject] = useState(of === undefined ? projectId : (of.project_id ?? undefined))
  const [budget, setBudget] = useState(draftOf(of?.budget_cents ?? null, of?.budget_period ?? null))
  const [routing, setRouting] = useState(of?.routing ?? {})
  const [allowed, setAllowed] = useState(of?.allowed_tools ?? null)
  const save = useMutation({
    mutationFn: async () => {
      const more = { routing: policyOf(routing), allowed_tools: allowed }
      const body = { name, project_id: project ?? null, ...budgetOf(budget), ...more }
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
      keepKey({ id: made.data.id, name: made.data.name, secret: made.key })
      onSecret(made.key)
    }
  })
  return (
    <FormDialog
      title={of === undefined ? "Create a key" : `Edit ${of.name}`}
      action={of === undefined ? "Create key" : "Save"}
      busy={save.isPending}
      error={save.error}
      ready={isBudget(budget)}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <NameField hint="The program that uses the key, such as “production backend”." value={name} onChange={setName} />
      <OptionalSelect
        label="Project"
        hint="The key follows the project's routing, data policy and budget."
        absent="no project"
        options={projects
          .filter(({ id, status }) => status === "active" || id === project)
          .map(({ id, name }) => ({ value: id, name }))}
        value={project}
        onChange={setProject}
      />
      <BudgetFields draft={budget} onChange={setBudget} />
      <details>
        <summary>
          Routing <span className="muted">{policyWords(policyOf(routing)) ?? "from the project, or default"}</span>
        </summary>
        <p className="small muted">
          These options apply to requests that set none. They override the options of the project.
        </p>
        <RoutingFields policy={routing} onChange={setRouting} />
      </details>
      <ToolsField chosen={allowed} onChange={setAllowed} />
    </FormDialog>
  )
}

interface KeyDialogProps {
  readonly of?: ManagedKey
  /** The project of a new key, until the owner chooses another one. */
  readonly projectId?: string | undefined
  readonly onClose: () => void
}

/** Creates or edits a key. The secret of a new one is shown once. */
export const KeyDialog = ({ of, onClose, projectId }: KeyDialogProps) => {
  const [secret, setSecret] = useState<string>()
  if (secret === undefined) return <KeyForm of={of} projectId={projectId} onClose={onClose} onSecret={setSecret} />
  return (
    <Dialog title="The key is ready" closes="buttons" onClose={onClose} wide>
      <NewSecret secret={secret} onClose={onClose} />
    </Dialog>
  )
}
