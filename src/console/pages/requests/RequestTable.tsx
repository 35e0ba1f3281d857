/** Receipts as rows, of which only those in sight are in the page. */
import { Link, useNavigate } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import type { RequestReceipt } from "../../../client/Contract.ts"
import { useNames } from "../../data/Names.ts"
import { brief, duration } from "../../format/Figures.ts"
import { operationName } from "../../format/Words.ts"
import { Ago, Money, Status } from "../../parts/Figures.tsx"

const ROW = 36
const AHEAD = 20

const tokensOf = ({ usage }: RequestReceipt): string =>
  usage === null
    ? "—"
    : "unit" in usage
      ? `${brief(usage.units)} ${usage.unit}${usage.units === 1 ? "" : "s"}`
      : `${brief(usage.input_tokens + usage.cached_tokens + usage.cache_creation_tokens)} → ${brief(usage.output_tokens)}`

interface Column {
  readonly name: string
  readonly width: string
  readonly right?: boolean
  /** From this width of the window on, in pixels. */
  readonly from: number
  readonly cell: (row: RequestReceipt, keyName: (id: string) => string) => React.ReactNode
}

const columns: ReadonlyArray<Column> = [
  {
    ...{ name: "Model", width: "minmax(84px, 2fr)", from: 0 },
    cell: (row) => (
      <Link className="clip" to="/requests/$id" params={{ id: row.id }} title={row.model}>
        <span className="strong">{row.model}</span>
        {row.resolved_model !== null && row.resolved_model !== row.model ? (
          <span className="muted"> → {row.resolved_model}</span>
        ) : null}
      </Link>
    )
  },
  { name: "Status", width: "104px", from: 0, cell: ({ status }) => <Status of={status} /> },
  { name: "Operation", width: "104px", from: 1_000, cell: ({ operation }) => operationName(operation) },
  { name: "Provider", width: "minmax(90px, 1fr)", from: 1_000, cell: ({ provider }) => provider ?? "—" },
  { name: "Key", width: "minmax(90px, 1fr)", from: 1_300, cell: ({ key_id: id }, keyName) => keyName(id) },
  { name: "Tokens", width: "120px", right: true, from: 820, cell: tokensOf },
  {
    ...{ name: "Latency", width: "84px", right: true, from: 1_100 },
    cell: ({ timings }) => (timings.total_ms === null ? "—" : duration(timings.total_ms))
  },
  { name: "Cost", width: "100px", right: true, from: 0, cell: ({ cost_usd: cost }) => <Money usd={cost} /> },
  { name: "Time", width: "88px", right: true, from: 620, cell: ({ created_at: at }) => <Ago at={at} /> }
]

const useColumns = (): ReadonlyArray<Column> => {
  const [width, setWidth] = useState(window.innerWidth)
  useEffect(() => {
    const resize = () => setWidth(window.innerWidth)
    window.addEventListener("resize", resize)
    return () => window.removeEventListener("resize", resize)
  }, [])
  return columns.filter(({ from }) => width >= from)
}

interface RequestTableProps {
  readonly rows: ReadonlyArray<RequestReceipt>
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly onMore: () => void
}

/** The row that `j` and `k` select, and that Enter opens. */
const useSelection = (rows: ReadonlyArray<RequestReceipt>, show: (at: number) => void) => {
  const navigate = useNavigate()
  const [selected, setSelected] = useState<string>()
  const press = (event: KeyboardEvent) => {
    const at = rows.findIndex(({ id }) => id === selected)
    if (event.key === "Enter" && event.target === event.currentTarget && at >= 0) {
      return void navigate({ to: "/requests/$id", params: { id: rows[at]!.id } })
    }
    const by = ["j", "ArrowDown"].includes(event.key) ? 1 : ["k", "ArrowUp"].includes(event.key) ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    const next = Math.min(rows.length - 1, Math.max(0, at + by))
    setSelected(rows[next]?.id)
    show(next)
  }
  return { selected, press }
}

export const RequestTable = ({ hasMore, isReading, onMore, rows }: RequestTableProps) => {
  const ref = useRef<HTMLDivElement>(null)
  const navigate = useNavigate()
  const shown = useColumns()
  const nameOf = useNames("key")
  const virtual = useVirtualizer({
    count: rows.length,
    estimateSize: () => ROW,
    getScrollElement: () => ref.current,
    getItemKey: (at) => rows[at]!.id,
    overscan: 12
  })
  const { press, selected } = useSelection(rows, (at) => virtual.scrollToIndex(at))
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && !isReading && last >= rows.length - AHEAD) onMore()
  }, [hasMore, isReading, last, onMore, rows.length])
  const template = { gridTemplateColumns: shown.map(({ width }) => width).join(" ") }
  return (
    <div
      ref={ref}
      className="viewport rows"
      role="table"
      aria-label="Requests; j and k select a row, Enter opens it"
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      tabIndex={0}
      onKeyDown={press}
      style={{ height: Math.min(rows.length * ROW + ROW + 2, Math.max(320, window.innerHeight - 190)) }}
    >
      <div role="rowgroup">
        <div className="head" role="row" style={template}>
          {shown.map(({ name, right }) => (
            <span key={name} role="columnheader" className={right ? "right" : undefined}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map((item) => {
          const row = rows[item.index]!
          return (
            <div
              key={row.id}
              className="line"
              role="row"
              aria-rowindex={item.index + 2}
              data-selected={row.id === selected}
              style={{ ...template, position: "absolute", insetInline: 0, transform: `translateY(${item.start}px)` }}
              onClick={() => void navigate({ to: "/requests/$id", params: { id: row.id } })}
            >
              {shown.map(({ cell, name, right }) => (
                <span key={name} role="cell" className={right ? "right number" : "clip"}>
                  {cell(row, nameOf)}
                </span>
              ))}
            </div>
          )
        })}
      </div>
    </div>
  )
}
