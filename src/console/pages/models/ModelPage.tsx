import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { ModelDetail, ModelProvider } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { origin } from "../../data/Client.ts"
import { modelQuery } from "../../data/Queries.ts"
import { firstCall, snippetsOf } from "../../data/Snippets.ts"
import { count, duration, share, utcDate } from "../../format/Figures.ts"
import { money, perMillion } from "../../format/Money.ts"
import { sentence } from "../../format/Words.ts"
import { Code, Id } from "../../parts/Copy.tsx"
import { Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { LiveBars } from "./LiveBars.tsx"
import { PriceHistory } from "./PriceHistory.tsx"
import { Failed, Skeleton } from "../../parts/States.tsx"
import { Table } from "../../parts/Table.tsx"

/** The names and the texts of a model's prices. */
const pricesOf = ({ pricing }: ModelDetail): ReadonlyArray<readonly [string, string]> => {
  const {
    meteredCacheWritePromptPerToken,
    meteredCachedPromptPerToken,
    meteredCompletionPerToken,
    meteredPromptPerToken
  } = pricing
  const tokens = [
    ["Input", meteredPromptPerToken],
    ["Cached input", meteredCachedPromptPerToken],
    ["Written to the cache", meteredCacheWritePromptPerToken],
    ["Output", meteredCompletionPerToken]
  ] as const
  return [
    ...tokens
      .filter(([, price]) => price !== null)
      .map(([name, price]) => [name, `${perMillion(price)} per million tokens`] as const),
    ...(pricing.perUnitUsd === null
      ? []
      : [[sentence(pricing.unit), `${money(pricing.perUnitUsd)} per ${pricing.unit}`] as const]),
    ...((pricing.perRequestUsd ?? 0) > 0
      ? [["Request", `${money(pricing.perRequestUsd ?? 0)} per request`] as const]
      : []),
    ...(pricing.typicalRequestUsd === null ? [] : [["Typical request", money(pricing.typicalRequestUsd)] as const])
  ]
}

const figure = (value: number | null, format: (value: number) => string) =>
  value === null ? <span className="muted">—</span> : format(value)

const ProviderRow = ({ of: { performance, ...of } }: { readonly of: ModelProvider }) => (
  <tr className={of.available ? "" : "off"}>
    <th scope="row">
      <span>
        {of.providerDisplayName} {of.role === "primary" ? <span className="chip">first choice</span> : null}
      </span>
    </th>
    <td>{of.available ? <Status of="active" /> : <span className="badge">Not set up</span>}</td>
    <td className="right number">{figure(performance.successRate, share)}</td>
    <td className="right number">{figure(performance.medianTtftMs, duration)}</td>
    <td className="right number">{figure(performance.p50Ms, duration)}</td>
    <td className="right number">{figure(performance.p95Ms, duration)}</td>
    <td className="right number">
      <span>
        {count(performance.samples)}
        {performance.thin && performance.samples > 0 ? <span className="muted"> (few)</span> : null}
      </span>
    </td>
    <td>
      {of.trainsOnData ? "May train on data" : "Does not train"}
      {of.zeroRetentionAvailable ? ", zero retention" : ""}
    </td>
  </tr>
)

const Providers = ({ model }: { readonly model: ModelDetail }) => (
  <section className="card" aria-label="Providers">
    <header>
      <h2>Providers in the last 30 minutes</h2>
    </header>
    <Table
      label="providers"
      columns={[
        "Provider",
        "Status",
        { right: "Success" },
        { right: "First token" },
        { right: "Median" },
        { right: "95th percentile" },
        { right: "Requests" },
        "Data"
      ]}
    >
      {model.providers.map((provider) => (
        <ProviderRow key={`${provider.provider} ${provider.upstreamModelId}`} of={provider} />
      ))}
    </Table>
  </section>
)

const Facts = ({ model }: { readonly model: ModelDetail }) => (
  <section className="card" aria-label="Model">
    <header>
      <h2>Model</h2>
      <Status of={model.status} />
    </header>
    <div className="body grid">
      <dl className="facts">
        <dt>Id</dt>
        <dd>
          <Id value={model.id} />
        </dd>
        <dt>Maker</dt>
        <dd>{model.brand}</dd>
        <dt>Modality</dt>
        <dd>{sentence(model.modality)}</dd>
        {model.contextWindow > 0 ? (
          <>
            <dt>Context</dt>
            <dd>{count(model.contextWindow)} tokens</dd>
          </>
        ) : null}
        {model.maxOutputTokens > 0 ? (
          <>
            <dt>Maximum output</dt>
            <dd>{count(model.maxOutputTokens)} tokens</dd>
          </>
        ) : null}
      </dl>
      <div className="chips">
        {model.capabilities.map((name) => (
          <span className="chip" key={name}>
            {sentence(name)}
          </span>
        ))}
      </div>
    </div>
  </section>
)

const Prices = ({ model }: { readonly model: ModelDetail }) => (
  <section className="card" aria-label="Prices">
    <header>
      <h2>Prices</h2>
      {model.pricing.promotion === null ? null : (
        <span className="badge good">
          {model.pricing.promotion.label}: {model.pricing.promotion.discountPercent}% off
        </span>
      )}
    </header>
    <div className="body">
      <table className="lines">
        <tbody>
          {pricesOf(model).map(([name, price]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="number">{price}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="muted small">{model.pricingNote}</p>
    </div>
  </section>
)

const History = ({ model }: { readonly model: ModelDetail }) => (
  <section className="card" aria-label="History">
    <header>
      <h2>History</h2>
    </header>
    <div className="body">
      <table className="lines">
        <tbody>
          {model.history.map(({ date, detail, event, provider }) => (
            <tr key={`${date} ${event} ${provider ?? ""}`}>
              <th scope="row">
                {sentence(event)} {provider === undefined ? "" : `by ${provider}`}
                {detail === undefined ? null : <span className="muted"> {detail}</span>}
              </th>
              <td className="number muted">{utcDate(Date.parse(date) / 1_000)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </section>
)

const ModelDetails = ({ model }: { readonly model: ModelDetail }) => (
  <>
    <p className="muted">{model.description}</p>
    <Providers model={model} />
    <LiveBars model={model} />
    <div className="grid side">
      <div className="grid">
        <Prices model={model} />
        {model.modality === "text" ? (
          <Code snippets={snippetsOf({ ...firstCall(origin, "$KEY"), model: model.id })} />
        ) : null}
      </div>
      <div className="grid">
        <Facts model={model} />
        <PriceHistory model={model} />
        {model.history.length > 0 ? <History model={model} /> : null}
      </div>
    </div>
  </>
)

/** The page of a model: its providers, prices, facts and example requests. */
export const ModelPage = () => {
  const { _splat: id = "" } = useParams({ from: "/shell/models/$" })
  const model = useQuery(modelQuery(id))
  return (
    <Page
      title={model.data?.name ?? id}
      before={
        <Link className="button square" to="/models" aria-label="Back to the models">
          <Icon name="back" />
        </Link>
      }
      tools={
        <>
          <Link className="button wide-only" to="/requests" search={{ model: id }}>
            Show requests
          </Link>
          {model.data?.modality === "text" ? (
            <Link className="button primary" to="/playground" search={{ model: id }}>
              Try it
            </Link>
          ) : null}
        </>
      }
    >
      {model.isError ? (
        <Failed
          error={model.error}
          onRetry={() => void model.refetch()}
          instead={
            <Link className="button" to="/models">
              All models
            </Link>
          }
        />
      ) : null}
      {model.isPending ? <Skeleton height={320} /> : null}
      {model.data === undefined ? null : <ModelDetails model={model.data} />}
    </Page>
  )
}
