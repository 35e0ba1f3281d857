/** Choosing the time range of a page. */
import { useState } from "react"
import { dayBefore, dayOf, type Days, isCustom, type Preset, presets, type RangeSearch } from "../data/Ranges.ts"
import { Segments } from "./Fields.tsx"

interface DayProps {
  readonly label: string
  readonly value: string
  readonly min: string | undefined
  readonly max: string | undefined
  readonly onChange: (day: string) => void
}

/** A day within bounds. A year that is still being typed is out of bounds and changes nothing yet. */
const Day = ({ label, max, min, onChange, value }: DayProps) => {
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  if (value !== known) {
    setKnown(value)
    setText(value)
  }
  return (
    <input
      className="input"
      type="date"
      aria-label={label}
      value={text}
      min={min}
      max={max}
      onChange={({ target }) => {
        setText(target.value)
        if (target.value !== "" && target.validity.valid) onChange(target.value)
      }}
      onBlur={() => setText(value)}
    />
  )
}

/** The first day that a range may include. No usage is older. */
const FIRST_DAY = "2020-01-01"

interface RangeProps<Length extends string> {
  readonly lengths: ReadonlyArray<{ readonly value: Length; readonly name: string }>
  /** The chosen length, which is shown unless days are chosen. */
  readonly length: Length
  readonly search: Days
  /** The number of days with which "Custom" begins. */
  readonly custom: number
  readonly onLength: (length: Length) => void
  readonly onDays: (days: Required<Days>) => void
}

/** Chooses a length up to now, or a first and a last day. */
export const TimeRange = <Length extends string>(props: RangeProps<Length>) => {
  const { custom, length, lengths, onDays, onLength, search } = props
  const { from, to } = search
  const today = dayOf(Date.now() / 1_000)
  const isOfDays = isCustom(search)
  return (
    <div className="range">
      <Segments<Length | "custom">
        label="Range"
        value={isOfDays ? "custom" : length}
        options={[...lengths, { value: "custom", name: "Custom" }]}
        onChange={(value) =>
          value === "custom" ? onDays({ from: dayBefore(today, custom - 1), to: today }) : onLength(value)
        }
      />
      {isOfDays && from !== undefined && to !== undefined ? (
        <span className="dates" title="Days are days in UTC">
          <Day
            label="First day, in UTC"
            value={from}
            min={FIRST_DAY}
            max={to}
            onChange={(day) => onDays({ from: day, to })}
          />
          <span className="muted">to</span>
          <Day
            label="Last day, in UTC"
            value={to}
            min={from}
            max={today}
            onChange={(day) => onDays({ from, to: day })}
          />
        </span>
      ) : null}
    </div>
  )
}

const names: Readonly<Record<Preset, string>> = {
  "1h": "1 h",
  "24h": "24 h",
  "7d": "7 d",
  "30d": "30 d"
}
const lengths = presets.map((value) => ({ value, name: names[value] }))

interface RangePickerProps {
  readonly search: RangeSearch
  readonly usual: Preset
  readonly onChange: (change: RangeSearch) => void
}

/** Chooses the range of a page of usage. */
export const RangePicker = ({ onChange, search, usual }: RangePickerProps) => (
  <TimeRange
    lengths={lengths}
    length={search.range ?? usual}
    search={search}
    custom={7}
    onLength={(range) => onChange({ range: range === usual ? undefined : range, from: undefined, to: undefined })}
    onDays={(days) => onChange({ range: undefined, ...days })}
  />
)
