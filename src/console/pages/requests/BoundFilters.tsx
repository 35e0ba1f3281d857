/** Filters by the lowest and the highest cost and latency. */
import { useState } from "react"
import type { RequestFilters } from "../../data/Requests.ts"
import { duration } from "../../format/Figures.ts"
import { money } from "../../format/Money.ts"
import { Field } from "../../parts/Fields.tsx"
import { FilterChip } from "../../parts/Filters.tsx"

type Bounds = Pick<RequestFilters, "minCost" | "maxCost" | "minMs" | "maxMs">

const bounds = [
  { name: "minCost", label: "Cost from, in dollars", chip: "Cost from", show: money, step: "any" },
  {
    name: "maxCost",
    label: "Cost up to, in dollars",
    chip: "Cost up to",
    show: money,
    step: "any"
  },
  { name: "minMs", label: "Latency from, in ms", chip: "Latency from", show: duration, step: "1" },
  {
    name: "maxMs",
    label: "Latency up to, in ms",
    chip: "Latency up to",
    show: duration,
    step: "1"
  }
] as const

interface BoundsProps {
  readonly of: Bounds
  readonly onChange: (change: Bounds) => void
}

/** The bounds that are set, as chips, and a menu that changes them. */
export const BoundFilters = ({ of, onChange }: BoundsProps) => {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({})
  const set = bounds.filter(({ name }) => of[name] !== undefined)
  const apply = () =>
    onChange(
      Object.fromEntries(
        bounds.map(({ name }) => {
          const text = typed[name] ?? String(of[name] ?? "")
          return [name, text === "" || !(Number(text) >= 0) ? undefined : Number(text)]
        })
      )
    )
  return (
    <>
      {set.map(({ chip, name, show }) => (
        <FilterChip
          key={name}
          name={chip}
          value={show(of[name] ?? 0)}
          onRemove={() => {
            setTyped((before) => ({ ...before, [name]: "" }))
            onChange({ [name]: undefined })
          }}
        />
      ))}
      <details className="menu-of">
        <summary className="button">Cost and latency</summary>
        <form
          className="menu-body form"
          onSubmit={(event) => {
            event.preventDefault()
            apply()
            event.currentTarget.closest("details")?.removeAttribute("open")
          }}
        >
          {bounds.map(({ label, name, step }) => (
            <Field key={name} label={label}>
              {(props) => (
                <input
                  {...props}
                  className="input"
                  type="number"
                  min={0}
                  step={step}
                  value={typed[name] ?? String(of[name] ?? "")}
                  onChange={({ target }) => setTyped((before) => ({ ...before, [name]: target.value }))}
                />
              )}
            </Field>
          ))}
          <button type="submit" className="button primary">
            Apply
          </button>
        </form>
      </details>
    </>
  )
}
