import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Project } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { api } from "../../data/Client.ts"
import { keysQuery, projectsQuery } from "../../data/Queries.ts"
import { rowsOf } from "../../data/Series.ts"
import { usageQuery } from "../../data/Usage.ts"
import { sentence } from "../../format/Words.ts"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago, Money, Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Meter } from "../../parts/Meter.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { ProjectDialog } from "./ProjectDialog.tsx"

const ArchiveProject = ({ of, onClose }: { readonly of: Project; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const archive = useMutation({
    mutationFn: () => api.call("management.projects.archive", { path: { project_id: of.id } }),
    onSuccess: async () => {
      await Promise.all([client.invalidateQueries(projectsQuery), client.invalidateQueries(keysQuery)])
      toast(`Archived ${of.name} and revoked its keys.`)
      onClose()
    }
  })
  return (
    <Confirm
      title={`Archive ${of.name}?`}
      name={of.name}
      action="Archive project"
      busy={archive.isPending}
      onConfirm={() => archive.mutate()}
      onClose={onClose}
    >
      {archive.isError ? <Failed error={archive.error} /> : null}
      All keys of the project are revoked at once. It cannot be undone. Receipts and usage stay.
    </Confirm>
  )
}

interface TableProps {
  readonly rows: ReadonlyArray<Project>
  readonly onEdit: (project: Project) => void
  readonly onArchive: (project: Project) => void
}

const ProjectTable = ({ onArchive, onEdit, rows }: TableProps) => {
  const { data: keys } = useQuery(keysQuery)
  const usage = useQuery(usageQuery("30d", "project"))
  const spends = new Map(usage.data && rowsOf(usage.data.buckets, "project").map(({ cost, group }) => [group, cost]))
  const keysOf = (id: string) => keys?.filter((key) => key.project_id === id && key.status === "active").length
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Table: projects">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Status</th>
            <th scope="col" className="right">
              Keys
            </th>
            <th scope="col">Budget</th>
            <th scope="col">Data policy</th>
            <th scope="col" className="right">
              30 days
            </th>
            <th scope="col">Created</th>
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} className={row.status === "active" ? "" : "off"}>
              <th scope="row" className="clip" title={row.name}>
                {row.name} <span className="muted">{row.slug}</span>
              </th>
              <td>
                <Status of={row.status} />
              </td>
              <td className="right number">{keysOf(row.id) ?? "—"}</td>
              <td>
                {row.budget_cents === null ? (
                  <span className="muted">no budget</span>
                ) : (
                  <Meter spentCents={row.spent_cents ?? 0} budgetCents={row.budget_cents} period={row.budget_period} />
                )}
              </td>
              <td>{sentence(row.data_policy)}</td>
              <td className="right">{usage.data === undefined ? "—" : <Money usd={spends.get(row.id) ?? 0} />}</td>
              <td>
                <Ago at={row.created_at} />
              </td>
              <td>
                {row.status === "active" ? (
                  <span className="actions end">
                    <button type="button" className="button plain tiny" onClick={() => onEdit(row)}>
                      Edit<span className="unseen"> {row.name}</span>
                    </button>
                    <button type="button" className="button plain tiny danger" onClick={() => onArchive(row)}>
                      Archive<span className="unseen"> {row.name}</span>
                    </button>
                  </span>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export const ProjectsPage = () => {
  const projects = useQuery(projectsQuery)
  const [edited, setEdited] = useState<Project | "new">()
  const [archived, setArchived] = useState<Project>()
  const create = (
    <button type="button" className="button primary" onClick={() => setEdited("new")}>
      <Icon name="plus" />
      Create project
    </button>
  )
  return (
    <Page title="Projects" tools={create}>
      {projects.isError ? <Failed error={projects.error} onRetry={() => void projects.refetch()} /> : null}
      <section className="card" aria-label="Projects">
        {projects.data === undefined ? (
          <SkeletonRows />
        ) : projects.data.length === 0 ? (
          <Empty title="There is no project yet." action={create}>
            <p>A project holds keys that share a budget, a routing policy and a data policy.</p>
          </Empty>
        ) : (
          <ProjectTable rows={projects.data} onEdit={setEdited} onArchive={setArchived} />
        )}
      </section>
      {edited === undefined ? null : (
        <ProjectDialog of={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} />
      )}
      {archived === undefined ? null : <ArchiveProject of={archived} onClose={() => setArchived(undefined)} />}
    </Page>
  )
}
