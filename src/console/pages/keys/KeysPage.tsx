import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { ManagedKey } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { useNames } from "../../data/Names.ts"
import { keysQuery } from "../../data/Queries.ts"
import { rowsOf } from "../../data/Series.ts"
import { usageQuery } from "../../data/Usage.ts"
import { plural } from "../../format/Words.ts"
import { Segments } from "../../parts/Fields.tsx"
import { Ago, Money, Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Meter } from "../../parts/Meter.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { KeyDialog } from "./KeyDialog.tsx"
import { RevokeKey, RotateKey } from "./KeyEnds.tsx"

type Open = { readonly what: "create" } | { readonly what: "edit" | "rotate" | "revoke"; readonly key: ManagedKey }

interface RowProps {
  readonly row: ManagedKey
  readonly spend: number | undefined
  readonly project: string
  readonly onOpen: (open: Open) => void
}

const Row = ({ onOpen, project, row, spend }: RowProps) => (
  <tr className={row.status === "active" ? "" : "off"}>
    <th scope="row" className="clip" title={row.name}>
      {row.name}
    </th>
    <td>
      <code>
        {row.prefix}…{row.last4}
      </code>
    </td>
    <td>
      <Status of={row.status} />
    </td>
    <td className="clip">{project}</td>
    <td>
      {row.budget_cents === null ? (
        <span className="muted">no budget</span>
      ) : (
        <Meter spentCents={row.spent_cents} budgetCents={row.budget_cents} period={row.budget_period} />
      )}
    </td>
    <td className="right">{spend === undefined ? "—" : <Money usd={spend} />}</td>
    <td>{row.last_used_at === null ? <span className="muted">never</span> : <Ago at={row.last_used_at} />}</td>
    <td>
      {row.status === "active" ? (
        <span className="actions end">
          {(["edit", "rotate", "revoke"] as const).map((what) => (
            <button
              key={what}
              type="button"
              className={what === "revoke" ? "button plain tiny danger" : "button plain tiny"}
              aria-label={`${what} ${row.name}`}
              onClick={() => onOpen({ what, key: row })}
            >
              {what === "edit" ? "Edit" : what === "rotate" ? "Rotate" : "Revoke"}
            </button>
          ))}
        </span>
      ) : null}
    </td>
  </tr>
)

const KeyTable = ({ onOpen, rows }: { rows: ReadonlyArray<ManagedKey>; onOpen: (open: Open) => void }) => {
  const usage = useQuery(usageQuery("30d", "key"))
  const projectName = useNames("project")
  const spends = new Map(usage.data && rowsOf(usage.data.buckets, "key").map(({ cost, group }) => [group, cost]))
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Table: keys">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Key</th>
            <th scope="col">Status</th>
            <th scope="col">Project</th>
            <th scope="col">Budget</th>
            <th scope="col" className="right">
              30 days
            </th>
            <th scope="col">Last used</th>
            <th scope="col">
              <span className="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.id}
              row={row}
              spend={usage.data === undefined ? undefined : (spends.get(row.id) ?? 0)}
              project={row.project_id === null ? "—" : projectName(row.project_id)}
              onOpen={onOpen}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

export const KeysPage = () => {
  const keys = useQuery(keysQuery)
  const [shown, setShown] = useState<"active" | "revoked">("active")
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  const rows = keys.data?.filter(({ status }) => status === shown)
  const create = (
    <button type="button" className="button primary" onClick={() => setOpen({ what: "create" })}>
      <Icon name="plus" />
      Create key
    </button>
  )
  return (
    <Page title="Keys" tools={create}>
      {keys.isError ? <Failed error={keys.error} onRetry={() => void keys.refetch()} /> : null}
      <section className="card" aria-label="Keys">
        <header>
          <span className="muted small">{rows === undefined ? "" : plural(rows.length, `${shown} key`)}</span>
          <Segments
            label="Status"
            value={shown}
            options={[
              { value: "active", name: "Active" },
              { value: "revoked", name: "Revoked" }
            ]}
            onChange={setShown}
          />
        </header>
        {rows === undefined ? (
          <SkeletonRows />
        ) : rows.length === 0 ? (
          <Empty
            title={shown === "active" ? "There is no active key." : "No key has been revoked."}
            action={shown === "active" ? create : undefined}
          >
            <p>Programs authenticate with a key. Give each program its own, so that its spend can be told apart.</p>
          </Empty>
        ) : (
          <KeyTable rows={rows} onOpen={setOpen} />
        )}
      </section>
      {open?.what === "create" ? <KeyDialog onClose={close} /> : null}
      {open?.what === "edit" ? <KeyDialog of={open.key} onClose={close} /> : null}
      {open?.what === "rotate" ? <RotateKey of={open.key} onClose={close} /> : null}
      {open?.what === "revoke" ? <RevokeKey of={open.key} onClose={close} /> : null}
    </Page>
  )
}
