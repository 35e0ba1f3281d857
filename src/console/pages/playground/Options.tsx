import type { RoutingPolicy } from "../../../client/Contract.ts"
import { changed, policyOf, policyWords } from "../../data/Routing.ts"
import { Field, OptionalSelect } from "../../parts/Fields.tsx"
import { RoutingFields } from "../../parts/Routing.tsx"
import { toolsOf } from "./Messages.ts"
import { PlaygroundKeyName } from "./PlaygroundKey.tsx"

/** The options of the requests to every model. */
export interface ChatOptions {
  readonly instructions: string
  /** The parameters that are set. Requests send no others. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly routing: RoutingPolicy
  /** The JSON, as the user typed it. */
  readonly tools: string
}

export const noOptions: ChatOptions = { instructions: "", parameters: {}, routing: {}, tools: "" }

/** The request fields for the options. */
export const parametersOf = ({ parameters, routing, tools }: ChatOptions): Readonly<Record<string, unknown>> => {
  const read = toolsOf(tools)
  const policy = policyOf(routing)
  return {
    ...parameters,
    ...("tools" in read && read.tools.length > 0 ? { tools: read.tools } : {}),
    ...(policy === null ? {} : { routing: policy })
  }
}

interface NumberFieldProps {
  readonly label: string
  readonly hint?: string
  readonly value: unknown
  readonly range: readonly [number, number, number]
  readonly onChange: (value: number | undefined) => void
}

/** A field for a number that may stay empty, which means the default. */
export const NumberField = ({ hint, label, onChange, range: [min, max, step], value }: NumberFieldProps) => (
  <Field label={label} hint={hint}>
    {(props) => (
      <input
        {...props}
        min={min}
        max={max}
        step={step}
        className="input number"
        type="number"
        placeholder="default"
        value={typeof value === "number" ? value : ""}
        onChange={({ target }) => onChange(Number.isNaN(target.valueAsNumber) ? undefined : target.valueAsNumber)}
      />
    )}
  </Field>
)

const example = `[{
  "name": "get_weather",
  "description": "The weather of a city",
  "parameters": {
    "type": "object",
    "properties": { "city": { "type": "string" } },
    "required": ["city"]
  }
}]`

interface OptionsProps {
  readonly options: ChatOptions
  readonly reasons: boolean
  readonly onOptions: (options: ChatOptions) => void
}

const Tools = ({ onOptions, options }: Omit<OptionsProps, "reasons">) => {
  const read = toolsOf(options.tools)
  return (
    <details>
      <summary>
        Tools{" "}
        <span className="muted">{"tools" in read ? (read.tools.length === 0 ? "none" : read.tools.length) : "?"}</span>
      </summary>
      <Field
        label="Functions as JSON"
        hint="The model calls them, and you enter the results."
        wrong={"wrong" in read ? read.wrong : undefined}
      >
        {(props) => (
          <textarea
            {...props}
            className="input mono"
            rows={8}
            spellCheck={false}
            placeholder={example}
            value={options.tools}
            onChange={(event) => onOptions({ ...options, tools: event.target.value })}
          />
        )}
      </Field>
      {options.tools === "" ? (
        <button type="button" className="button tiny" onClick={() => onOptions({ ...options, tools: example })}>
          Use the example
        </button>
      ) : null}
    </details>
  )
}

/** The form of the chat options. */
export const Options = ({ onOptions, options, reasons }: OptionsProps) => {
  const { instructions, parameters, routing } = options
  const set = (name: string, value: unknown) =>
    onOptions({ ...options, parameters: changed(parameters, { [name]: value }) })
  const number = (name: string, label: string, range: readonly [number, number, number], hint?: string) => (
    <NumberField
      label={label}
      range={range}
      value={parameters[name]}
      onChange={(value) => set(name, value)}
      {...(hint === undefined ? {} : { hint })}
    />
  )
  return (
    <aside className="card" aria-label="Options">
      <div className="body form">
        <PlaygroundKeyName />
        <Field label="Instructions">
          {(field) => (
            <textarea
              {...field}
              className="input"
              rows={3}
              placeholder="How the model should answer"
              value={instructions}
              onChange={(event) => onOptions({ ...options, instructions: event.target.value })}
            />
          )}
        </Field>
        <div className="grid pair">
          {number("max_tokens", "Maximum output", [1, 1_000_000, 1], "In tokens. It also limits the hold.")}
          {number("temperature", "Temperature", [0, 2, 0.1], "0 to 2.")}
          {number("top_p", "Top p", [0, 1, 0.05], "0 to 1.")}
          {number("seed", "Seed", [0, 2_147_483_647, 1], "For repeatable answers.")}
        </div>
        {reasons ? (
          <OptionalSelect
            label="Reasoning effort"
            absent="default"
            options={["low", "medium", "high"].map((value) => ({ value, name: value }))}
            value={parameters["reasoning_effort"] as string | undefined}
            onChange={(value) => set("reasoning_effort", value)}
          />
        ) : null}
        <OptionalSelect
          label="Response format"
          absent="text"
          options={[{ value: "json_object", name: "JSON" }]}
          value={parameters["response_format"] === undefined ? undefined : "json_object"}
          onChange={(type) => set("response_format", type === undefined ? undefined : { type })}
        />
        <Tools options={options} onOptions={onOptions} />
        <details>
          <summary>
            Routing <span className="muted">{policyWords(policyOf(routing)) ?? "default"}</span>
          </summary>
          <RoutingFields policy={routing} onChange={(routing) => onOptions({ ...options, routing })} />
        </details>
      </div>
    </aside>
  )
}
