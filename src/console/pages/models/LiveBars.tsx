/** Compares the providers of a model over the last 30 minutes. */
import type { ModelDetail, ModelProvider } from "../../../client/Contract.ts"
import { duration, share } from "../../format/Figures.ts"
import { Empty } from "../../parts/States.tsx"

interface MeasureProps {
  readonly title: string
  readonly about: string
  readonly providers: ReadonlyArray<ModelProvider>
  readonly of: (provider: ModelProvider) => number | null
  readonly format: (value: number) => string
  /** The value of a full bar, if it is not the largest value. */
  readonly whole?: number
}

const Measure = ({ about, format, of, providers, title, whole }: MeasureProps) => {
  const most = whole ?? Math.max(...providers.map((one) => of(one) ?? 0), Number.MIN_VALUE)
  return (
    <div className="measure">
      <h3>
        {title} <span className="muted small">{about}</span>
      </h3>
      <ul>
        {providers.map((provider) => {
          const value = of(provider)
          return (
            <li key={`${provider.provider} ${provider.upstreamModelId}`}>
              <span className="clip" title={provider.providerDisplayName}>
                {provider.providerDisplayName}
              </span>
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect className="track" width="100" height="8" />
                {value === null ? null : (
                  <rect className="fill" width={Math.min(100, (value / most) * 100)} height="8" />
                )}
              </svg>
              <span className="number right">{value === null ? "—" : format(value)}</span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** Bars for the success, the first token and the total time of each provider. */
export const LiveBars = ({ model }: { readonly model: ModelDetail }) => {
  if (model.virtual) return null
  const known = model.providers.filter(({ performance }) => performance.samples > 0)
  return (
    <section className="card" aria-label="Live figures">
      <header>
        <h2>Last 30 minutes</h2>
        <span className="small muted">of all requests through this gateway</span>
      </header>
      {known.length === 0 ? (
        <Empty title="No request reached this model in the last 30 minutes." />
      ) : (
        <div className="body measures">
          <Measure
            title="Success"
            about="higher is better"
            providers={known}
            of={({ performance }) => performance.successRate}
            format={share}
            whole={1}
          />
          <Measure
            title="First token"
            about="median, shorter is better"
            providers={known}
            of={({ performance }) => performance.medianTtftMs}
            format={duration}
          />
          <Measure
            title="Total time"
            about="95th percentile, shorter is better"
            providers={known}
            of={({ performance }) => performance.p95Ms}
            format={duration}
          />
        </div>
      )}
    </section>
  )
}
