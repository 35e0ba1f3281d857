/**
 * Charts figures over time: stacked bars for figures that add up, lines for others. A crosshair shows the figures of a bucket, the
 * largest first. The legend filters. Each page also has a table of the figures, for readers who cannot see the chart.
 */
import { type PointerEvent, useLayoutEffect, useRef, useState } from "react"
import type { Bucket } from "./Buckets.ts"
import { linesOf } from "./Scale.ts"

export interface ChartSeries {
  readonly name: string
  readonly values: ReadonlyArray<number>
  readonly total: number
  /** The number of a series colour, "other", or a status. */
  readonly colour: string
  readonly onChoose: (() => void) | undefined
}

interface TimeSeriesProps {
  readonly label: string
  readonly kind?: "bars" | "lines"
  readonly series: ReadonlyArray<ChartSeries>
  readonly buckets: ReadonlyArray<Bucket>
  readonly format: (value: number) => string
  readonly axis: (value: number, step: number) => string
  readonly height?: number
  /** Whether the chart has a legend. */
  readonly legend?: boolean
  /** Runs at a click on a bucket. */
  readonly onPick?: (at: number) => void
}

const LEFT = 56
const BOTTOM = 22
const TOP = 8
const TIP_PX = 240
const LETTER_PX = 7
const MAX_IN_TIP = 12

/** A reference for an element, and its width. The component renders again when the width changes. */
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

const Tip = ({ at, chart, left }: { at: number; chart: TimeSeriesProps; left: number }) => {
  const rows = chart.series
    .map((one) => ({ ...one, value: one.values[at] ?? 0 }))
    .filter(({ value }) => value !== 0)
    .toSorted((a, b) => b.value - a.value)
  const sum = rows.reduce((total, { value }) => total + value, 0)
  return (
    <div className="tip" style={{ left }}>
      <div className="strong">{chart.buckets[at]?.long}</div>
      <ul>
        {rows.slice(0, MAX_IN_TIP).map(({ colour, name, value }) => (
          <li key={name}>
            <span className={`swatch series-${colour}`} />
            <span className="clip">{name}</span>
            <span className="number">{chart.format(value)}</span>
          </li>
        ))}
        {chart.kind === "lines" ? null : (
          <li>
            <span className="muted">Sum</span>
            <span className="number strong">{chart.format(sum)}</span>
          </li>
        )}
      </ul>
    </div>
  )
}

interface PlotProps {
  readonly chart: TimeSeriesProps
  readonly width: number
  readonly y: (value: number) => number
}

const Bars = ({ chart: { buckets, series }, width, y }: PlotProps) => {
  const slot = (width - LEFT) / buckets.length
  const bar = Math.max(1, Math.min(slot * 0.72, 48))
  return buckets.map(({ long }, at) => {
    // Negative values stack below the axis, and positive ones above it.
    let [above, below] = [0, 0]
    return (
      <g key={long}>
        {series.map(({ colour, name, values }) => {
          const value = values[at] ?? 0
          const from = value < 0 ? below : above
          if (value < 0) below += value
          else above += value
          return value === 0 ? null : (
            <rect
              key={name}
              className={`series-${colour}`}
              x={LEFT + slot * at + (slot - bar) / 2}
              y={y(Math.max(from, from + value))}
              width={bar}
              height={Math.max(Math.abs(y(from) - y(from + value)), 0.5)}
            />
          )
        })}
      </g>
    )
  })
}

/** A line for each series, with a gap where a bucket has no figure. */
const Lines = ({ chart: { buckets, series }, width, y }: PlotProps) => {
  const slot = (width - LEFT) / buckets.length
  return series.map(({ colour, name, values }) => {
    let isDown = false
    const path = values
      .map((value, at) => {
        if (value === 0) {
          isDown = false
          return ""
        }
        const step = `${isDown ? "L" : "M"}${(LEFT + slot * (at + 0.5)).toFixed(1)},${y(value).toFixed(1)}`
        isDown = true
        return step
      })
      .join(" ")
    return (
      <g key={name} className={`line-of stroke-${colour}`}>
        <path d={path} />
        {values.map((value, at) =>
          value === 0 ? null : (
            <circle key={at} cx={LEFT + slot * (at + 0.5)} cy={y(value)} r={buckets.length > 60 ? 1 : 2} />
          )
        )}
      </g>
    )
  })
}

const Legend = ({ chart: { format, series } }: { readonly chart: TimeSeriesProps }) => (
  <ul className="legend">
    {series.map(({ colour, name, onChoose, total }) => (
      <li key={name}>
        <span className={`swatch series-${colour}`} />
        {onChoose === undefined ? (
          <span className="clip">{name}</span>
        ) : (
          <button type="button" className="button plain tiny" title={`Show ${name} alone`} onClick={onChoose}>
            <span className="clip">{name}</span>
          </button>
        )}
        <span className="muted number">{format(total)}</span>
      </li>
    ))}
  </ul>
)

/** The highest and the lowest value of a chart. Zero is always between them. */
const extentOf = ({ buckets, kind, series }: TimeSeriesProps): { readonly most: number; readonly least: number } => {
  let [most, least] = [0, 0]
  for (const at of buckets.keys()) {
    const values = series.map(({ values }) => values[at] ?? 0)
    const sum = (sign: 1 | -1) => values.reduce((sum, value) => (value * sign > 0 ? sum + value : sum), 0)
    most = Math.max(most, kind === "lines" ? Math.max(...values) : sum(1))
    least = Math.min(least, kind === "lines" ? Math.min(...values) : sum(-1))
  }
  return { most, least }
}

/** A chart with a crosshair and, if wanted, a legend. Screen readers read its label. */
export const TimeSeries = (chart: TimeSeriesProps) => {
  const { axis, buckets, height = 240, kind = "bars", label, legend = true, onPick } = chart
  const [ref, width] = useWidth()
  const [hovered, setHovered] = useState<number>()
  const { least, most } = extentOf(chart)
  const lines = linesOf(most, height < 120 ? 2 : 4, least)
  const [bottom, top] = [lines[0] ?? 0, lines.at(-1) ?? 1]
  const y = (value: number) => TOP + ((top - value) / (top - bottom)) * (height - TOP - BOTTOM)
  const slot = (width - LEFT) / buckets.length
  const label_px = 24 + LETTER_PX * Math.max(...buckets.map(({ short }) => short.length), 1)
  const each = Math.max(1, Math.ceil(label_px / slot))
  const bucketAt = (event: PointerEvent | React.MouseEvent) => {
    const at = Math.floor((event.clientX - (ref.current?.getBoundingClientRect().left ?? 0) - LEFT) / slot)
    return at >= 0 && at < buckets.length ? at : undefined
  }
  const middle = hovered === undefined ? 0 : LEFT + slot * (hovered + 0.5)
  return (
    <div className="chart">
      <div
        className="plot"
        ref={ref}
        onPointerMove={(event) => setHovered(bucketAt(event))}
        onPointerLeave={() => setHovered(undefined)}
        onClick={(event) => {
          const at = bucketAt(event)
          if (at !== undefined) onPick?.(at)
        }}
      >
        <svg height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
          {lines.map((line) => (
            <g key={line}>
              <line
                className={line === 0 && bottom < 0 ? "gridline zero" : "gridline"}
                x1={LEFT}
                x2={width}
                y1={y(line)}
                y2={y(line)}
              />
              <text x={LEFT - 8} y={y(line) + 4} textAnchor="end">
                {axis(line, (lines[1] ?? 1) - bottom)}
              </text>
            </g>
          ))}
          {hovered === undefined ? null : (
            <>
              <rect className="hover" x={LEFT + slot * hovered} y={TOP} width={slot} height={height - TOP - BOTTOM} />
              <line className="crosshair" x1={middle} x2={middle} y1={TOP} y2={height - BOTTOM} />
            </>
          )}
          {kind === "lines" ? <Lines chart={chart} width={width} y={y} /> : <Bars chart={chart} width={width} y={y} />}
          {buckets.map(({ long, short }, at) =>
            at % each === 0 && LEFT + slot * (at + 0.5) + label_px / 2 <= width + 12 ? (
              <text key={long} x={LEFT + slot * (at + 0.5)} y={height - 4} textAnchor="middle">
                {short}
              </text>
            ) : null
          )}
        </svg>
        {hovered === undefined ? null : (
          <Tip chart={chart} at={hovered} left={middle + TIP_PX > width ? Math.max(0, middle - TIP_PX) : middle + 12} />
        )}
      </div>
      {legend ? <Legend chart={chart} /> : null}
    </div>
  )
}
