/** Fields of forms, and buttons of which one is pressed. */
import { type ReactNode, useId } from "react"
import { wordsOf } from "../data/Client.ts"

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

interface DecimalFieldProps extends Omit<FieldProps, "children"> {
  readonly value: string
  readonly onChange: (text: string) => void
}

/** A field for a number, with the focus of its dialog. */
export const DecimalField = ({ onChange, value, ...about }: DecimalFieldProps) => (
  <Field {...about}>
    {(field) => (
      <input
        {...field}
        className="input"
        inputMode="decimal"
        autoFocus
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
)

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

interface NameFieldProps {
  readonly value: string
  readonly hint?: string
  /** The call that failed, which is told where the form begins. */
  readonly error?: unknown
  readonly autoFocus?: boolean
  readonly onChange: (name: string) => void
}

/** The name of a thing, 1 to 100 characters. */
export const NameField = ({ autoFocus = true, error, hint, onChange, value }: NameFieldProps) => (
  <Field label="Name" hint={hint} wrong={error === undefined || error === null ? undefined : wordsOf(error).message}>
    {(props) => (
      <input
        {...props}
        className="input"
        required
        maxLength={100}
        autoFocus={autoFocus}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)

interface ChecksProps<A extends string> {
  readonly legend: string
  readonly options: ReadonlyArray<{ readonly value: A; readonly title?: string }>
  readonly chosen: ReadonlyArray<A>
  readonly onChange: (chosen: ReadonlyArray<A>) => void
}

/** Several of some words of the API. */
export const Checks = <A extends string>({ chosen, legend, onChange, options }: ChecksProps<A>) => (
  <fieldset className="scopes">
    <legend>{legend}</legend>
    {options.map(({ title, value }) => (
      <label key={value} title={title}>
        <input
          type="checkbox"
          checked={chosen.includes(value)}
          onChange={({ target }) =>
            onChange(target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
          }
        />{" "}
        <code>{value}</code>
      </label>
    ))}
  </fieldset>
)
