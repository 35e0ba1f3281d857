/** Fields of forms, and groups of buttons of which one is pressed. */
import { type ReactNode, useId } from "react"

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly wrong?: string | undefined
  /** Renders the control with the properties that tie it to its label, its hint and its error. */
  readonly children: (props: {
    readonly id: string
    readonly "aria-describedby": string
    readonly "aria-invalid": boolean
  }) => ReactNode
}

/** A control with its label above it, and its hint or its error below it. Screen readers announce an error when it appears. */
export const Field = ({ children, hint, label, wrong }: FieldProps) => {
  const id = useId()
  return (
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({ id, "aria-describedby": `${id}-hint`, "aria-invalid": wrong !== undefined })}
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

/** A field for a decimal number. It takes the focus when its dialog opens. */
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

/** A group of buttons that choose one of a few values. */
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

/** A select without a visible label, for toolbars. */
export const Select = ({ label, onChange, options, value }: SelectProps) => (
  <select className="select" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
    {options.map((option) => (
      <option key={option.value} value={option.value}>
        {option.name}
      </option>
    ))}
  </select>
)

interface OptionalSelectProps {
  readonly label: string
  readonly hint?: string
  readonly value: string | undefined
  readonly options: ReadonlyArray<{ readonly value: string; readonly name: string }>
  /** The name of the choice of no value. */
  readonly absent: string
  readonly onChange: (value: string | undefined) => void
}

/** A select whose value may be absent. */
export const OptionalSelect = ({ absent, hint, label, onChange, options, value }: OptionalSelectProps) => (
  <Field label={label} hint={hint}>
    {(props) => (
      <select
        {...props}
        className="select"
        value={value ?? ""}
        onChange={({ target }) => onChange(target.value === "" ? undefined : target.value)}
      >
        <option value="">{absent}</option>
        {options.map(({ name, value }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    )}
  </Field>
)

interface NameFieldProps {
  readonly value: string
  readonly hint?: string
  readonly autoFocus?: boolean
  readonly onChange: (name: string) => void
}

/** A field for a name of 1 to 100 characters. */
export const NameField = ({ autoFocus = true, hint, onChange, value }: NameFieldProps) => (
  <Field label="Name" hint={hint}>
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

/** Checkboxes that choose several identifiers of the API. */
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
