/** Fields of forms, and buttons of which one is pressed. */
import { type ReactNode, useId } from "react"

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly wrong?: string | undefined
  readonly children: (props: { readonly id: string; readonly "aria-describedby": string }) => ReactNode
}

export const Field = ({ children, hint, label, wrong }: FieldProps) => {
  const id = useId()
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({ id, "aria-describedby": `${id}-hint` })}
      <span id={`${id}-hint`} className={wrong === undefined ? "hint" : "wrong"} role={wrong && "alert"}>
        {wrong ?? hint}
      </span>
    </div>
  )
}

interface SegmentsProps<A extends string> {
  readonly label: string
  readonly options: ReadonlyArray<{ readonly value: A; readonly name: string }>
  readonly value: A
  readonly onChange: (value: A) => void
}

export const Segments = <A extends string>({ label, onChange, options, value }: SegmentsProps<A>) => (
  <div className="segments" role="group" aria-label={label}>
    {options.map((option) => (
      <button
        key={option.value}
        type="button"
        aria-pressed={option.value === value}
        onClick={() => onChange(option.value)}
      >
        {option.name}
      </button>
    ))}
  </div>
)

interface SelectProps {
  readonly label: string
  readonly value: string
  readonly options: ReadonlyArray<{ readonly value: string; readonly name: string }>
  readonly onChange: (value: string) => void
}

/** A choice without a visible label, for bars of filters. */
export const Select = ({ label, onChange, options, value }: SelectProps) => (
  <select className="select" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
    {options.map((option) => (
      <option key={option.value} value={option.value}>
        {option.name}
      </option>
    ))}
  </select>
)
