import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import type { AuditLog } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { auditDifferences } from "../../data/Differences.ts"
import { auditQuery } from "../../data/Queries.ts"
import { sentence } from "../../format/Words.ts"
import { Id } from "../../parts/Copy.tsx"
import { Diff } from "../../parts/Diff.tsx"
import { Select } from "../../parts/Fields.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { Table } from "../../parts/Table.tsx"

const types = [
  "key.created",
  "key.updated",
  "key.rotated",
  "key.revoked",
  "project.created",
  "project.updated",
  "project.archived",
  "preset.created",
  "preset.updated",
  "preset.activated",
  "preset.removed",
  "session.created",
  "session.ended",
  "session.all_ended",
  "phone.code_sent",
  "phone.verified",
  "top_up.created",
  "top_up.paid",
  "top_up.simulated",
  "balance.adjusted",
  "balance.topped_up"
]

/** An id that may be shown by its beginning. */
const IdStart = ({ value }: { readonly value: string | null }) => (
  <code className="muted clip id-start" title={value ?? undefined}>
    {value}
  </code>
)

const Line = ({ line }: { readonly line: AuditLog }) => {
  const [open, setOpen] = useState(false)
  return (
    <>
      <tr className="pick">
        <td>
          <Ago at={line.effective_at} />
        </td>
        <th scope="row">
          <button
            type="button"
            className="button plain tiny flush"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            title="Show what changed"
          >
            {sentence(line.type)}
          </button>
        </th>
        <td>
          <span>
            {sentence(line.actor.type)} <IdStart value={line.actor.id} />
          </span>
        </td>
        <td>
          <span>
            {sentence(line.resource.type)} <IdStart value={line.resource.id} />
          </span>
        </td>
        <td>
          <Status of={line.outcome ?? line.status} />
        </td>
      </tr>
      {open ? (
        <tr>
          <td colSpan={5}>
            <div className="grid">
              {Object.keys(line.changes).length === 0 ? (
                <span className="muted small">Nothing beside the event itself was recorded.</span>
              ) : (
                <Diff label="What changed" lines={auditDifferences(line.changes)} />
              )}
              {line.code === null ? null : (
                <span>
                  Failed with <code>{line.code}</code>
                </span>
              )}
              {line.request_id === null ? null : <Id value={line.request_id} />}
            </div>
          </td>
        </tr>
      ) : null}
    </>
  )
}

export const AuditPage = () => {
  const { type } = useSearch({ from: "/shell/audit" })
  const navigate = useNavigate({ from: "/audit" })
  const audit = useInfiniteQuery(auditQuery(type))
  const lines = audit.data?.pages.flatMap(({ data }) => data)
  return (
    <Page title="Audit">
      <div className="filters">
        <Select
          label="Event"
          value={type ?? ""}
          options={[{ value: "", name: "Every event" }, ...types.map((value) => ({ value, name: sentence(value) }))]}
          onChange={(value) => void navigate({ search: value === "" ? {} : { type: value }, replace: true })}
        />
      </div>
      {audit.isError ? <Failed error={audit.error} onRetry={() => void audit.refetch()} /> : null}
      {lines === undefined && audit.isError ? null : (
        <section className="card" aria-label="Audit log">
          {lines === undefined ? (
            <SkeletonRows rows={10} />
          ) : lines.length === 0 ? (
            <Empty title="Nothing was done yet that this filter shows." />
          ) : (
            <Table label="audit log" columns={["Time", "Event", "By", "To", "Outcome"]}>
              {lines.map((line) => (
                <Line key={line.id} line={line} />
              ))}
            </Table>
          )}
        </section>
      )}
      {audit.hasNextPage ? (
        <button
          type="button"
          className="button"
          disabled={audit.isFetchingNextPage}
          onClick={() => void audit.fetchNextPage()}
        >
          Show older lines
        </button>
      ) : null}
    </Page>
  )
}
