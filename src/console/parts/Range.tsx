/** The range of time that a page shows. */
import { dayOf, isCustom, type Preset, presets, type RangeSearch } from "../data/Ranges.ts"
import { Segments } from "./Fields.tsx"

const names: Readonly<Record<Preset, string>> = {
  "1h": "1 h",
  "24h": "24 h",
  "7d": "7 d",
  "30d": "30 d"
}

const options = [
  ...presets.map((value) => ({ value, name: names[value] })),
  { value: "custom", name: "Custom" }
] as const

interface RangePickerProps {
  readonly search: RangeSearch
  readonly usual: Preset
  readonly onChange: (change: RangeSearch) => void
}

const DAY = 86_400

export const RangePicker = ({ onChange, search, usual }: RangePickerProps) => {
  const custom = isCustom(search)
  const today = dayOf(Date.now() / 1_000)
  const choose = (value: Preset | "custom") =>
    value === "custom"
      ? onChange({ range: undefined, from: dayOf(Date.now() / 1_000 - 6 * DAY), to: today })
      : onChange({ range: value === usual ? undefined : value, from: undefined, to: undefined })
  return (
    <div className="range">
      <Segments label="Range" value={custom ? "custom" : (search.range ?? usual)} options={options} onChange={choose} />
      {custom ? (
        <span className="dates" title="Days are days in UTC">
          <input
            className="input"
            type="date"
            aria-label="First day, in UTC"
            value={search.from}
            max={search.to}
            onChange={({ target }) => target.value !== "" && onChange({ ...search, from: target.value })}
          />
          <span className="muted">to</span>
          <input
            className="input"
            type="date"
            aria-label="Last day, in UTC"
            value={search.to}
            min={search.from}
            max={today}
            onChange={({ target }) => target.value !== "" && onChange({ ...search, to: target.value })}
          />
        </span>
      ) : null}
    </div>
  )
}
