/** The routing options of keys, projects and requests. A policy has only the options that are set. */
import { useQuery } from "@tanstack/react-query"
import { useId } from "react"
import type { RoutingPolicy } from "../../client/Contract.ts"
import { modelsQuery } from "../data/Queries.ts"
import { changed, dataPolicies, strategies } from "../data/Routing.ts"
import { sentence } from "../format/Words.ts"
import { Field, OptionalSelect } from "./Fields.tsx"
import { Icon } from "./Icons.tsx"

interface NameListProps {
  readonly label: string
  readonly hint: string
  readonly options: ReadonlyArray<{ readonly value: string; readonly name: string }>
  readonly chosen: ReadonlyArray<string>
  readonly onChange: (chosen: ReadonlyArray<string>) => void
}

/** A list of names in the order in which they were chosen. */
const NameList = ({ chosen, hint, label, onChange, options }: NameListProps) => {
  const nameOf = (value: string) => options.find((one) => one.value === value)?.name ?? value
  return (
    <Field label={label} hint={hint}>
      {(props) => (
        <div className="picks">
          {chosen.map((value) => (
            <button
              key={value}
              type="button"
              className="chip remove"
              aria-label={`Remove ${nameOf(value)}`}
              onClick={() => onChange(chosen.filter((one) => one !== value))}
            >
              {nameOf(value)}
              <Icon name="close" />
            </button>
          ))}
          <select
            {...props}
            className="select"
            value=""
            onChange={({ target }) => target.value !== "" && onChange([...chosen, target.value])}
          >
            <option value="">{chosen.length === 0 ? "any" : "add another"}</option>
            {options
              .filter(({ value }) => !chosen.includes(value))
              .map(({ name, value }) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
          </select>
        </div>
      )}
    </Field>
  )
}

interface AmountProps {
  readonly label: string
  readonly placeholder: string
  readonly whole?: boolean
  readonly value: number | undefined
  readonly onChange: (value: number | undefined) => void
}

const Amount = ({ label, onChange, placeholder, value, whole = false }: AmountProps) => {
  const id = useId()
  return (
    <span className="amount">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input number"
        type="number"
        min={whole ? 1 : 0}
        max={whole ? 3_600_000 : undefined}
        step={whole ? 1 : "any"}
        placeholder={placeholder}
        value={value ?? ""}
        onChange={({ target }) => onChange(Number.isNaN(target.valueAsNumber) ? undefined : target.valueAsNumber)}
      />
    </span>
  )
}

interface RoutingFieldsProps {
  readonly policy: RoutingPolicy
  readonly onChange: (policy: RoutingPolicy) => void
  /** Leaves out the data policy, for a form that has its own field for it. */
  readonly withoutDataPolicy?: boolean
}

const useProviders = () => {
  const { data: models = [] } = useQuery(modelsQuery)
  const names = new Map(
    models.flatMap(({ providers }) => providers).map((one) => [one.provider, one.providerDisplayName])
  )
  return [...names]
    .map(([value, name]) => ({ value, name }))
    .toSorted((one, other) => one.name.localeCompare(other.name))
}

const Providers = ({ onChange, policy }: RoutingFieldsProps) => {
  const options = useProviders()
  const { providers = {} } = policy
  const pick = (field: "only" | "order" | "ignore", label: string, hint: string) => (
    <NameList
      label={label}
      hint={hint}
      options={options}
      chosen={providers[field] ?? []}
      onChange={(chosen) => onChange(changed(policy, { providers: changed(providers, { [field]: chosen }) }))}
    />
  )
  return (
    <>
      {pick("only", "Only these providers", "No other provider gets a request.")}
      {pick("order", "First these providers", "In this order. The others follow.")}
      {pick("ignore", "Never these providers", "They get no request, even as a fallback.")}
    </>
  )
}

const Limits = ({ onChange, policy }: RoutingFieldsProps) => {
  const { max_price: prices = {}, timeouts = {} } = policy
  const price = (field: "prompt" | "completion" | "request" | "image", label: string) => (
    <Amount
      label={label}
      placeholder="no limit"
      value={prices[field]}
      onChange={(value) => onChange(changed(policy, { max_price: changed(prices, { [field]: value }) }))}
    />
  )
  const time = (field: "connect_ms" | "first_token_ms" | "total_ms", label: string) => (
    <Amount
      whole
      label={label}
      placeholder="default"
      value={timeouts[field]}
      onChange={(value) => onChange(changed(policy, { timeouts: changed(timeouts, { [field]: value }) }))}
    />
  )
  return (
    <>
      <fieldset className="limits">
        <legend>Highest price in dollars</legend>
        {price("prompt", "Million input tokens")}
        {price("completion", "Million output tokens")}
        {price("request", "Request")}
        {price("image", "Image")}
      </fieldset>
      <fieldset className="limits">
        <legend>Longest attempt in milliseconds</legend>
        {time("connect_ms", "Connection")}
        {time("first_token_ms", "First token")}
        {time("total_ms", "Whole answer")}
      </fieldset>
    </>
  )
}

/** The fields of all routing options. */
export const RoutingFields = (props: RoutingFieldsProps) => {
  const { onChange, policy, withoutDataPolicy = false } = props
  const set = (change: object) => onChange(changed(policy, change))
  return (
    <div className="form">
      <div className="grid pair">
        <OptionalSelect
          label="Strategy"
          absent="default"
          options={strategies.map((value) => ({ value, name: sentence(value) }))}
          value={policy.strategy}
          onChange={(strategy) => set({ strategy })}
        />
        {withoutDataPolicy ? null : (
          <OptionalSelect
            label="Data policy"
            absent="default"
            options={dataPolicies}
            value={policy.data_policy}
            onChange={(value) => set({ data_policy: value })}
          />
        )}
        <OptionalSelect
          label="Fallbacks"
          absent="allowed"
          options={[{ value: "no", name: "not allowed" }]}
          value={policy.allow_fallbacks === false ? "no" : undefined}
          onChange={(value) => set({ allow_fallbacks: value === undefined ? undefined : false })}
        />
        <OptionalSelect
          label="Prompt caching"
          absent="as the request says"
          options={[{ value: "auto", name: "automatic" }]}
          value={policy.caching}
          onChange={(caching) => set({ caching })}
        />
        <OptionalSelect
          label="Unsupported parameters"
          absent="ignored"
          options={[{ value: "yes", name: "exclude that provider" }]}
          value={policy.require_parameters === true ? "yes" : undefined}
          onChange={(value) => set({ require_parameters: value === undefined ? undefined : true })}
        />
      </div>
      <Providers {...props} />
      <Limits {...props} />
    </div>
  )
}
