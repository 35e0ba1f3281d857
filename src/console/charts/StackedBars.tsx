/** Stacked bars over time, with a tooltip, a legend that filters, and the same figures as a table for readers without the picture. */
import { type PointerEvent, useLayoutEffect, useRef, useState } from "react"
import { linesOf } from "./Scale.ts"

export interface BarSeries {
  readonly name: string
  readonly values: ReadonlyArray<number>
  readonly total: number
  /** "other" for the rest. */
  readonly colour: string
  readonly onChoose: (() => void) | undefined
}

interface StackedBarsProps {
  readonly label: string
  readonly series: ReadonlyArray<BarSeries>
  /** Names of the buckets, for the axis and for the tooltip. */
  readonly buckets: ReadonlyArray<{ readonly short: string; readonly long: string }>
  readonly format: (value: number) => string
  readonly axis: (value: number, step: number) => string
}

const HEIGHT = 240
const LEFT = 56
const BOTTOM = 22
const TOP = 8
const MOST_LABELS_PX = 64
const TIP_PX = 240

/** The width of an element as the window changes. */
const useWidth = () => {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(800)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    setWidth(element.clientWidth)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}

const Tip = ({ at, bars, left }: { at: number; bars: StackedBarsProps; left: number }) => {
  const rows = bars.series
    .map((one) => ({ ...one, value: one.values[at] ?? 0 }))
    .filter(({ value }) => value > 0)
    .toSorted((a, b) => b.value - a.value)
  const sum = rows.reduce((total, { value }) => total + value, 0)
  return (
    <div className="tip" style={{ left }}>
      <div className="strong">{bars.buckets[at]?.long}</div>
      <ul>
        {rows.map(({ colour, name, value }) => (
          <li key={name}>
            <span className={`swatch series-${colour}`} />
            <span className="clip">{name}</span>
            <span className="number">{bars.format(value)}</span>
          </li>
        ))}
        <li>
          <span className="muted">Sum</span>
          <span className="number strong">{bars.format(sum)}</span>
        </li>
      </ul>
    </div>
  )
}

interface BarsProps {
  readonly bars: StackedBarsProps
  readonly width: number
  readonly y: (value: number) => number
}

const Bars = ({ bars: { buckets, series }, width, y }: BarsProps) => {
  const slot = (width - LEFT) / buckets.length
  const bar = Math.max(2, Math.min(slot * 0.72, 48))
  return buckets.map(({ long }, at) => {
    let below = 0
    return (
      <g key={long}>
        {series.map(({ colour, name, values }) => {
          const value = values[at] ?? 0
          const from = below
          below += value
          const height = y(from) - y(below)
          return value <= 0 ? null : (
            <rect
              key={name}
              className={`series-${colour}`}
              x={LEFT + slot * at + (slot - bar) / 2}
              y={y(below)}
              width={bar}
              height={Math.max(height, 0.5)}
            />
          )
        })}
      </g>
    )
  })
}

export const StackedBars = (bars: StackedBarsProps) => {
  const { axis, buckets, format, label, series } = bars
  const [ref, width] = useWidth()
  const [hovered, setHovered] = useState<number>()
  const most = Math.max(...buckets.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)), 0)
  const lines = linesOf(most, 4)
  const top = lines.at(-1) ?? 1
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM)
  const slot = (width - LEFT) / buckets.length
  const each = Math.max(1, Math.ceil(MOST_LABELS_PX / slot))
  const point = (event: PointerEvent) => {
    const x = event.clientX - (ref.current?.getBoundingClientRect().left ?? 0) - LEFT
    const at = Math.floor(x / slot)
    setHovered(at >= 0 && at < buckets.length ? at : undefined)
  }
  const middle = hovered === undefined ? 0 : LEFT + slot * (hovered + 0.5)
  return (
    <div className="chart">
      <div className="plot" ref={ref} onPointerMove={point} onPointerLeave={() => setHovered(undefined)}>
        <svg height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
          {lines.map((line) => (
            <g key={line}>
              <line className="gridline" x1={LEFT} x2={width} y1={y(line)} y2={y(line)} />
              <text x={LEFT - 8} y={y(line) + 4} textAnchor="end">
                {axis(line, lines[1] ?? 1)}
              </text>
            </g>
          ))}
          {hovered === undefined ? null : (
            <rect className="hover" x={LEFT + slot * hovered} y={TOP} width={slot} height={HEIGHT - TOP - BOTTOM} />
          )}
          <Bars bars={bars} width={width} y={y} />
          {buckets.map(({ long, short }, at) =>
            at % each === 0 ? (
              <text key={long} x={LEFT + slot * (at + 0.5)} y={HEIGHT - 4} textAnchor="middle">
                {short}
              </text>
            ) : null
          )}
        </svg>
        {hovered === undefined ? null : (
          <Tip bars={bars} at={hovered} left={middle + TIP_PX > width ? Math.max(0, middle - TIP_PX) : middle + 12} />
        )}
      </div>
      <ul className="legend">
        {series.map(({ colour, name, onChoose, total }) => (
          <li key={name}>
            <span className={`swatch series-${colour}`} />
            {onChoose === undefined ? (
              <span>{name}</span>
            ) : (
              <button
                type="button"
                className="button plain tiny"
                title={`Show the requests of ${name}`}
                onClick={onChoose}
              >
                {name}
              </button>
            )}
            <span className="muted number">{format(total)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
