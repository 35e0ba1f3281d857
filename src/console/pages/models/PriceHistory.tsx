import type { ModelDetail } from "../../../client/Contract.ts"
import { utcDate } from "../../format/Figures.ts"
import { money } from "../../format/Money.ts"
import { priceSteps } from "./PriceSteps.ts"

const WIDTH = 300
const HEIGHT = 90
const PAD = 8

/** A chart of the price over time. It shows nothing for a price that never changed. */
export const PriceHistory = ({ model }: { readonly model: ModelDetail }) => {
  const steps = priceSteps(model)
  if (steps.length < 2) return null
  const [from, to] = [Date.parse(steps[0]!.date), Date.now()]
  const most = Math.max(...steps.map(({ usd }) => usd))
  const x = (date: number) => ((date - from) / Math.max(1, to - from)) * WIDTH
  const y = (usd: number) => PAD + (1 - usd / most) * (HEIGHT - 2 * PAD)
  const path = steps.map(({ date, usd }, at) =>
    at === 0 ? `M0,${y(usd)}` : `H${x(Date.parse(date)).toFixed(1)} V${y(usd).toFixed(1)}`
  )
  return (
    <section className="card" aria-label="Price history">
      <header>
        <h2>Price history</h2>
        <span className="small muted">
          per {model.pricing.unit === "token" ? "million output tokens" : model.pricing.unit}
        </span>
      </header>
      <div className="body">
        <svg className="steps-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path d={`${path.join(" ")} H${WIDTH}`} />
        </svg>
        <ul className="small">
          {steps.map(({ date, usd }) => (
            <li key={date} className="split">
              <span className="muted">{utcDate(Date.parse(date) / 1_000)}</span>
              <span className="number">{money(usd)}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}
