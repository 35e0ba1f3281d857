import type { ModelDetail } from "../../../client/Contract.ts"
import { duration } from "../../format/Figures.ts"
import { perMillion } from "../../format/Money.ts"
import { Field } from "../../parts/Fields.tsx"
import type { Parameters } from "./Conversation.ts"
import { SpendsThrough } from "./PlaygroundKey.tsx"

interface OptionsProps {
  readonly model: string
  readonly models: ReadonlyArray<ModelDetail>
  readonly onModel: (model: string) => void
  readonly instructions: string
  readonly onInstructions: (instructions: string) => void
  readonly parameters: Parameters
  readonly onParameters: (parameters: Parameters) => void
}

/** What the chosen model costs, and how fast it was lately. */
const About = ({ model }: { readonly model: ModelDetail | undefined }) => {
  if (model === undefined) return <>Any id of the catalogue, a preset such as @brief, or svc/auto.</>
  const { pricing, providers } = model
  const ttft = providers[0]?.performance.medianTtftMs ?? null
  return (
    <>
      {pricing.unit === "token"
        ? `${perMillion(pricing.meteredPromptPerToken)} in, ${perMillion(pricing.meteredCompletionPerToken)} out, per million tokens. `
        : ""}
      {ttft === null ? "" : `First token in ${duration(ttft)} lately.`}
    </>
  )
}

interface NumberFieldProps {
  readonly label: string
  readonly hint: string
  readonly value: number | undefined
  readonly range: readonly [number, number, number]
  readonly onChange: (value: number | undefined) => void
}

const NumberField = ({ hint, label, onChange, range: [min, max, step], value }: NumberFieldProps) => (
  <Field label={label} hint={hint}>
    {(props) => (
      <input
        {...props}
        {...{ min, max, step }}
        className="input"
        type="number"
        placeholder="the model's own"
        value={value ?? ""}
        onChange={(event) => {
          const { valueAsNumber } = event.target
          onChange(Number.isNaN(valueAsNumber) ? undefined : valueAsNumber)
        }}
      />
    )}
  </Field>
)

/** Only what is set is sent. */
const merged = (parameters: Parameters, change: { [K in keyof Parameters]: Parameters[K] | undefined }): Parameters =>
  Object.fromEntries(Object.entries({ ...parameters, ...change }).filter(([, value]) => value !== undefined))

export const Options = (props: OptionsProps) => {
  const { instructions, model, models, onInstructions, onModel, onParameters, parameters } = props
  const texts = models.filter(({ modality, servable }) => modality === "text" && servable)
  const found = models.find(({ id }) => id === model)
  return (
    <aside className="card" aria-label="Options">
      <div className="body form">
        <SpendsThrough />
        <Field label="Model" hint={<About model={found} />}>
          {(field) => (
            <select {...field} className="select" value={model} onChange={(event) => onModel(event.target.value)}>
              {texts.some(({ id }) => id === model) ? null : <option>{model}</option>}
              {texts.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Instructions">
          {(field) => (
            <textarea
              {...field}
              className="input"
              rows={3}
              placeholder="How the model should answer"
              value={instructions}
              onChange={(event) => onInstructions(event.target.value)}
            />
          )}
        </Field>
        <NumberField
          label="Longest answer"
          hint="In tokens. A lower limit holds less money."
          value={parameters.max_tokens}
          range={[1, found?.maxOutputTokens || 1_000_000, 1]}
          onChange={(value) => onParameters(merged(parameters, { max_tokens: value }))}
        />
        <NumberField
          label="Temperature"
          hint="0 to 2. Lower answers vary less."
          value={parameters.temperature}
          range={[0, 2, 0.1]}
          onChange={(value) => onParameters(merged(parameters, { temperature: value }))}
        />
        {found?.capabilities.includes("reasoning") === true ? (
          <Field label="Reasoning effort">
            {(field) => (
              <select
                {...field}
                className="select"
                value={parameters.reasoning_effort ?? ""}
                onChange={(event) => {
                  const value = event.target.value
                  onParameters(merged(parameters, { reasoning_effort: value === "" ? undefined : (value as "low") }))
                }}
              >
                <option value="">the model's own</option>
                {["low", "medium", "high"].map((effort) => (
                  <option key={effort}>{effort}</option>
                ))}
              </select>
            )}
          </Field>
        ) : null}
      </div>
    </aside>
  )
}
