import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { useDeferredValue, useMemo } from "react"
import type { ModelDetail } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { modelsQuery } from "../../data/Queries.ts"
import { brief, duration, share } from "../../format/Figures.ts"
import { money, perMillion } from "../../format/Money.ts"
import { plural, sentence } from "../../format/Words.ts"
import { Select } from "../../parts/Fields.tsx"
import { FilterField } from "../../parts/FilterField.tsx"
import { Money, Status } from "../../parts/Figures.tsx"
import { Empty, Failed, SkeletonRows } from "../../parts/States.tsx"
import { filterModels, type ModelFilter, type Sort } from "./ModelFilter.ts"

const sorts: ReadonlyArray<{ value: Sort; name: string }> = [
  { value: "created", name: "Newest first" },
  { value: "name", name: "By name" },
  { value: "price", name: "Cheapest first" },
  { value: "-price", name: "Most expensive first" },
  { value: "context", name: "Longest context" }
]

const prices = [
  { value: "", name: "Any price" },
  ...[0.0001, 0.001, 0.01, 0.1].map((usd) => ({ value: String(usd), name: `Up to ${money(usd)} per request` }))
]

const contexts = [
  { value: "", name: "Any context" },
  ...[32_000, 128_000, 200_000, 1_000_000].map((tokens) => ({
    value: String(tokens),
    name: `${brief(tokens)} tokens or more`
  }))
]

const policies = [
  { value: "", name: "Any data policy" },
  { value: "no_training", name: "No training on data" },
  { value: "zero_retention", name: "Zero retention" }
]

const distinct = (values: ReadonlyArray<string>) => [...new Set(values)].toSorted()

const choices = (all: string, values: ReadonlyArray<string>) => [
  { value: "", name: all },
  ...distinct(values).map((value) => ({ value, name: sentence(value) }))
]

const Filters = ({ models }: { readonly models: ReadonlyArray<ModelDetail> }) => {
  const search = useSearch({ from: "/shell/models/" })
  const navigate = useNavigate({ from: "/models/" })
  const set = (name: keyof ModelFilter) => (value: string) =>
    void navigate({
      search: (before) => ({ ...before, [name]: value === "" ? undefined : value }) as never,
      replace: true
    })
  return (
    <div className="filters many">
      <FilterField
        isSearch
        label="Search models"
        placeholder="Search by name, id or maker"
        value={search.q ?? ""}
        onChange={set("q")}
      />
      <Select
        label="Modality"
        value={search.modality ?? ""}
        options={choices(
          "Any modality",
          models.map(({ modality }) => modality)
        )}
        onChange={set("modality")}
      />
      <Select
        label="Capability"
        value={search.capability ?? ""}
        options={choices(
          "Any capability",
          models.flatMap(({ capabilities }) => capabilities)
        )}
        onChange={set("capability")}
      />
      <Select
        label="Provider"
        value={search.provider ?? ""}
        options={choices(
          "Any provider",
          models.flatMap(({ providers }) => providers.map(({ provider }) => provider))
        )}
        onChange={set("provider")}
      />
      <Select label="Price" value={search.price ?? ""} options={prices} onChange={set("price")} />
      <Select label="Context" value={search.context ?? ""} options={contexts} onChange={set("context")} />
      <Select label="Data policy" value={search.policy ?? ""} options={policies} onChange={set("policy")} />
      <Select label="Order" value={search.sort ?? "created"} options={sorts} onChange={set("sort")} />
    </div>
  )
}

const Price = ({ model: { pricing, virtual } }: { readonly model: ModelDetail }) =>
  virtual ? (
    <span className="muted">price of the chosen model</span>
  ) : pricing.unit === "token" ? (
    <span className="number" title="Per million tokens, input → output">
      {perMillion(pricing.meteredPromptPerToken)} <span className="muted">→</span>{" "}
      {perMillion(pricing.meteredCompletionPerToken)}
    </span>
  ) : (
    <span className="number">
      <Money usd={pricing.perUnitUsd ?? pricing.perRequestUsd ?? 0} /> <span className="muted">per {pricing.unit}</span>
    </span>
  )

const Row = ({ model }: { readonly model: ModelDetail }) => {
  const { performance } = model.providers[0] ?? {}
  const known = performance !== undefined && !performance.thin
  return (
    <tr className="pick">
      <th scope="row" className="clip">
        <Link to="/models/$" params={{ _splat: model.id }} title={model.id}>
          {model.name}
        </Link>
      </th>
      <td className="muted clip wide-only">{model.brand}</td>
      <td className="wide-only">{model.status === "ga" ? sentence(model.modality) : <Status of={model.status} />}</td>
      <td className="right">
        <Price model={model} />
      </td>
      <td className="right number wide-only">{model.contextWindow > 0 ? brief(model.contextWindow) : "—"}</td>
      <td className="right number wide-only">
        {model.virtual ? "—" : model.providers.filter(({ available }) => available).length}
      </td>
      <td className="right number wide-only">
        {known && performance.medianTtftMs !== null ? (
          duration(performance.medianTtftMs)
        ) : (
          <span className="muted">—</span>
        )}
      </td>
      <td className="right number wide-only">
        {known && performance.successRate !== null ? share(performance.successRate) : <span className="muted">—</span>}
      </td>
    </tr>
  )
}

const ModelTable = ({ models }: { readonly models: ReadonlyArray<ModelDetail> }) => (
  <div className="scroll" tabIndex={0} role="region" aria-label="Table: models">
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Model</th>
          <th scope="col" className="wide-only">
            Maker
          </th>
          <th scope="col" className="wide-only">
            Modality
          </th>
          <th scope="col" className="right">
            Price, input → output
          </th>
          {["Context", "Providers", "First token", "Success"].map((name) => (
            <th key={name} scope="col" className="right wide-only">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {models.map((model) => (
          <Row key={model.id} model={model} />
        ))}
      </tbody>
    </table>
  </div>
)

/** The page that lists, filters and sorts the models of the catalogue. */
export const ModelsPage = () => {
  const search = useDeferredValue(useSearch({ from: "/shell/models/" }))
  const models = useQuery(modelsQuery)
  const shown = useMemo(() => models.data && filterModels(models.data, search), [models.data, search])
  return (
    <Page title="Models" tools={<span className="muted small">{shown && plural(shown.length, "model")}</span>}>
      <Filters models={models.data ?? []} />
      {models.isError ? <Failed error={models.error} onRetry={() => void models.refetch()} /> : null}
      {shown === undefined && models.isError ? null : (
        <section className="card" aria-label="Models">
          {shown === undefined ? (
            <SkeletonRows rows={14} />
          ) : shown.length === 0 ? (
            <Empty
              title="No model matches these filters."
              action={
                <Link className="button" to="/models" search={{}}>
                  Show all models
                </Link>
              }
            />
          ) : (
            <ModelTable models={shown} />
          )}
        </section>
      )}
    </Page>
  )
}
