import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { Project } from "../../../client/Contract.ts"
import { ListPage } from "../../app/ListPage.tsx"
import { api } from "../../data/Client.ts"
import { keysQuery, MAX_LISTED, projectsQuery } from "../../data/Queries.ts"
import { policyWords } from "../../data/Routing.ts"
import { sentence } from "../../format/Words.ts"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Meter } from "../../parts/Meter.tsx"
import { Failures, Spend } from "../../parts/Spend.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { ProjectDialog } from "./ProjectDialog.tsx"

const ArchiveProject = ({ of, onClose }: { readonly of: Project; readonly onClose: () => void }) => (
  <Confirm
    title={`Archive ${of.name}?`}
    name={of.name}
    action="Archive project"
    run={() => api.call("management.projects.archive", { path: { project_id: of.id } })}
    changes={[projectsQuery, keysQuery]}
    done={`Archived ${of.name} and revoked its keys.`}
    onClose={onClose}
  >
    The gateway revokes all keys of the project at once. You cannot undo this. Receipts and usage stay.
  </Confirm>
)

interface RowProps {
  readonly row: Project
  readonly keys: number | undefined
  readonly onEdit: (project: Project) => void
  readonly onArchive: (project: Project) => void
}

const Row = ({ keys, onArchive, onEdit, row }: RowProps) => {
  const routing = policyWords(row.routing)
  return (
    <tr className={row.status === "active" ? "" : "off"}>
      <th scope="row">
        <span className="stack">
          <span className="clip" title={row.name}>
            {row.name}
          </span>
          <code className="muted clip">{row.slug}</code>
        </span>
      </th>
      <td>
        <Status of={row.status} />
      </td>
      <td className="right number">
        <Link to="/keys" search={{ project: row.id }}>
          {keys ?? "—"}
          <span className="unseen"> keys of {row.name}</span>
        </Link>
      </td>
      <td>
        {row.budget_cents === null ? (
          <span className="muted">no budget</span>
        ) : (
          <Meter spentCents={row.spent_cents ?? 0} budgetCents={row.budget_cents} period={row.budget_period} />
        )}
      </td>
      <td>
        <span className="chips">
          {row.data_policy === "default" && routing === undefined ? <span className="muted">—</span> : null}
          {row.data_policy === "default" ? null : <span className="chip">{sentence(row.data_policy)}</span>}
          {routing === undefined ? null : (
            <span className="chip" title={routing}>
              routing
            </span>
          )}
        </span>
      </td>
      <td className="right">
        <Spend by="project" id={row.id} />
      </td>
      <td className="right">
        <Failures by="project" id={row.id} />
      </td>
      <td>
        <Ago at={row.created_at} />
      </td>
      <td>
        {row.status === "active" ? (
          <RowActions
            of={row.name}
            actions={[
              { name: "Edit", run: () => onEdit(row) },
              { name: "Archive", danger: true, run: () => onArchive(row) }
            ]}
          />
        ) : null}
      </td>
    </tr>
  )
}

/** The page that lists, creates, edits and archives projects. */
export const ProjectsPage = () => {
  const projects = useQuery(projectsQuery)
  const { data: keys } = useQuery(keysQuery)
  const [edited, setEdited] = useState<Project | "new">()
  const [archived, setArchived] = useState<Project>()
  const keysOf = (id: string) => keys?.filter((key) => key.project_id === id && key.status === "active").length
  return (
    <ListPage
      title="Projects"
      query={projects}
      most={MAX_LISTED}
      create={{ name: "Create project", run: () => setEdited("new") }}
      empty={{
        title: "There is no project yet.",
        about: "A project holds keys that share a budget, a routing policy and a data policy."
      }}
      dialogs={
        <>
          {edited === undefined ? null : (
            <ProjectDialog of={edited === "new" ? undefined : edited} onClose={() => setEdited(undefined)} />
          )}
          {archived === undefined ? null : <ArchiveProject of={archived} onClose={() => setArchived(undefined)} />}
        </>
      }
    >
      {(rows) => (
        <Table
          label="projects"
          columns={[
            "Name",
            "Status",
            { right: "Keys" },
            "Budget",
            "Policies",
            { right: "Spend, 30 days" },
            { right: "Failed" },
            "Created",
            actionsColumn
          ]}
        >
          {rows.map((row) => (
            <Row key={row.id} row={row} keys={keysOf(row.id)} onEdit={setEdited} onArchive={setArchived} />
          ))}
        </Table>
      )}
    </ListPage>
  )
}
