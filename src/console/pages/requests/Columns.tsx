/** The columns of the table of requests. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { RequestReceipt } from "../../../client/Contract.ts"
import { brief, duration } from "../../format/Figures.ts"
import { operationName, plural } from "../../format/Words.ts"
import { Ago, Money, Status } from "../../parts/Figures.tsx"

const tokensOf = ({ usage }: RequestReceipt): string => {
  if (usage === null) return "—"
  if ("unit" in usage) return usage.units === 0 ? "—" : plural(usage.units, usage.unit)
  const input = usage.input_tokens + usage.cached_tokens + usage.cache_creation_tokens
  if (usage.output_tokens === 0) return input === 0 ? "—" : brief(input)
  return `${brief(input)} → ${brief(usage.output_tokens)}`
}

const ms = (value: number | null): string => (value === null ? "—" : duration(value))

export interface Names {
  readonly key: (id: string) => string
  readonly project: (id: string | null) => string
}

export interface RequestColumn {
  readonly id: string
  readonly name: string
  readonly width: string
  readonly right?: boolean
  /** The minimum width of a window that shows the column by default, in pixels. Without it, only a choice shows the column. */
  readonly from?: number
  readonly cell: (row: RequestReceipt, names: Names) => ReactNode
}

export const columns: ReadonlyArray<RequestColumn> = [
  {
    id: "model",
    name: "Model",
    width: "minmax(84px, 3fr)",
    from: 0,
    cell: (row) => (
      <Link className="clip" to="/requests/$id" params={{ id: row.id }} title={row.model}>
        <span className="strong">{row.model}</span>
        {row.resolved_model !== null && row.resolved_model !== row.model ? (
          <span className="muted"> → {row.resolved_model}</span>
        ) : null}
      </Link>
    )
  },
  {
    id: "status",
    name: "Status",
    width: "104px",
    from: 0,
    cell: ({ status }) => <Status of={status} />
  },
  {
    id: "operation",
    name: "Operation",
    width: "96px",
    from: 1_000,
    cell: ({ operation }) => operationName(operation)
  },
  {
    id: "provider",
    name: "Provider",
    width: "minmax(80px, 1fr)",
    from: 1_000,
    cell: ({ provider }) => provider ?? "—"
  },
  {
    id: "key",
    name: "Key",
    width: "minmax(90px, 1.6fr)",
    from: 1_300,
    cell: ({ key_id: id }, names) => names.key(id)
  },
  {
    id: "project",
    name: "Project",
    width: "minmax(90px, 1.6fr)",
    from: 1_700,
    cell: ({ project_id: id }, names) => names.project(id)
  },
  { id: "tokens", name: "Tokens", width: "128px", right: true, from: 820, cell: tokensOf },
  {
    id: "first",
    name: "First token",
    width: "88px",
    right: true,
    cell: ({ timings }) => ms(timings.first_token_ms)
  },
  {
    id: "latency",
    name: "Latency",
    width: "84px",
    right: true,
    from: 1_100,
    cell: ({ timings }) => ms(timings.total_ms)
  },
  {
    id: "overhead",
    name: "In gateway",
    width: "88px",
    right: true,
    cell: ({ timings }) => ms(timings.overhead_ms)
  },
  {
    id: "held",
    name: "Held",
    width: "100px",
    right: true,
    cell: ({ held_usd: usd }) => <Money usd={usd} />
  },
  {
    id: "finish",
    name: "Finish reason",
    width: "112px",
    cell: ({ error, finish_reason }) => error?.code ?? finish_reason ?? "—"
  },
  {
    id: "cost",
    name: "Cost",
    width: "104px",
    right: true,
    from: 0,
    cell: ({ cost_usd: usd }) => <Money usd={usd} />
  },
  {
    id: "time",
    name: "Time",
    width: "92px",
    right: true,
    from: 620,
    cell: ({ created_at: at }) => <Ago at={at} />
  }
]

/** The chosen columns, or those that fit a window of this width. */
export const shownColumns = (chosen: string | undefined, width: number): ReadonlyArray<RequestColumn> => {
  const ids = chosen?.split(",")
  const shown = columns.filter(({ from, id }) =>
    ids === undefined ? from !== undefined && width >= from : ids.includes(id)
  )
  return shown.length === 0 ? columns.filter(({ id }) => id === "model") : shown
}
