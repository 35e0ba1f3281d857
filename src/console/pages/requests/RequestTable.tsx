/** A table of receipts that renders only the visible rows. */
import { useNavigate } from "@tanstack/react-router"
import { useVirtualizer } from "@tanstack/react-virtual"
import { type KeyboardEvent, memo, useEffect, useMemo, useRef, useState } from "react"
import type { RequestReceipt } from "../../../client/Contract.ts"
import { useNames } from "../../data/Names.ts"
import { type Names, type RequestColumn, shownColumns } from "./Columns.tsx"

const ROW = 36
const AHEAD = 40

const useWindow = (): { readonly width: number; readonly height: number } => {
  const [size, setSize] = useState({ width: window.innerWidth, height: window.innerHeight })
  useEffect(() => {
    const resize = () => setSize({ width: window.innerWidth, height: window.innerHeight })
    window.addEventListener("resize", resize)
    return () => window.removeEventListener("resize", resize)
  }, [])
  return size
}

interface LineProps {
  readonly row: RequestReceipt
  readonly at: number
  readonly start: number
  readonly isSelected: boolean
  readonly shown: ReadonlyArray<RequestColumn>
  readonly template: string
  readonly names: Names
  readonly onOpen: (id: string) => void
}

/** A row. It renders again only when its own properties change, so that scrolling stays smooth. */
const Line = memo(({ at, isSelected, names, onOpen, row, shown, start, template }: LineProps) => (
  <div
    className="line"
    role="row"
    aria-rowindex={at + 2}
    data-selected={isSelected}
    style={{
      gridTemplateColumns: template,
      position: "absolute",
      insetInline: 0,
      transform: `translateY(${start}px)`
    }}
    onClick={() => onOpen(row.id)}
  >
    {shown.map(({ cell, id, right }) => (
      <span key={id} role="cell" className={right ? "right number" : "clip"}>
        {cell(row, names)}
      </span>
    ))}
  </div>
))

/** The selected row: `j` and `k` select one, and Enter opens it. */
const useSelection = (rows: ReadonlyArray<RequestReceipt>, show: (at: number) => void, open: (id: string) => void) => {
  const [selected, setSelected] = useState<string>()
  const press = (event: KeyboardEvent) => {
    const at = rows.findIndex(({ id }) => id === selected)
    if (event.key === "Enter" && event.target === event.currentTarget && at >= 0) return open(rows[at]!.id)
    const by = ["j", "ArrowDown"].includes(event.key) ? 1 : ["k", "ArrowUp"].includes(event.key) ? -1 : 0
    if (by === 0) return
    event.preventDefault()
    const next = Math.min(rows.length - 1, Math.max(0, at + by))
    setSelected(rows[next]?.id)
    show(next)
  }
  return { selected, press }
}

interface RequestTableProps {
  readonly rows: ReadonlyArray<RequestReceipt>
  readonly columns: string | undefined
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly onMore: () => void
}

/** The table. It asks for more rows before the last ones are in sight. */
export const RequestTable = ({ columns, hasMore, isReading, onMore, rows }: RequestTableProps) => {
  const ref = useRef<HTMLDivElement>(null)
  const navigate = useNavigate()
  const { height, width } = useWindow()
  const shown = useMemo(() => shownColumns(columns, width), [columns, width])
  const template = shown.map(({ width }) => width).join(" ")
  const [keyName, projectName] = [useNames("key"), useNames("project")]
  const names = useMemo<Names>(() => ({ key: keyName, project: projectName }), [keyName, projectName])
  const [open] = useState(() => (id: string) => void navigate({ to: "/requests/$id", params: { id } }))
  const virtual = useVirtualizer({
    count: rows.length,
    estimateSize: () => ROW,
    getScrollElement: () => ref.current,
    getItemKey: (at) => rows[at]!.id,
    overscan: 12
  })
  const { press, selected } = useSelection(rows, (at) => virtual.scrollToIndex(at), open)
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && !isReading && last >= rows.length - AHEAD) onMore()
  }, [hasMore, isReading, last, onMore, rows.length])
  return (
    <div
      ref={ref}
      className="viewport rows"
      role="table"
      aria-label="Requests; j and k select a row, Enter opens it"
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      tabIndex={0}
      onKeyDown={press}
      style={{ height: Math.min(rows.length * ROW + ROW + 2, Math.max(320, height - 286)) }}
    >
      <div role="rowgroup">
        <div className="head" role="row" style={{ gridTemplateColumns: template }}>
          {shown.map(({ id, name, right }) => (
            <span key={id} role="columnheader" className={right ? "right" : undefined}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
        {items.map(({ index, start }) => {
          const row = rows[index]!
          return (
            <Line
              key={row.id}
              row={row}
              shown={shown}
              template={template}
              names={names}
              start={start}
              at={index}
              isSelected={row.id === selected}
              onOpen={open}
            />
          )
        })}
      </div>
    </div>
  )
}
