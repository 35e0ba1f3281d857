import type { RequestReceipt } from "../../../client/Contract.ts"
import { count } from "../../format/Figures.ts"
import { exactMoney } from "../../format/Money.ts"
import { Signed } from "../../parts/Figures.tsx"
import { Empty } from "../../parts/States.tsx"
import { type CostLine, costLines } from "./Lines.ts"

/** The steps from the usage at its prices to the cost. */
const settlementsOf = ({ absorbed_usd, cost_usd, refunded_usd, settled_usd }: RequestReceipt) =>
  [
    { name: "Above the hold, not charged", usd: -absorbed_usd, shown: absorbed_usd > 0 },
    { name: "Settled from the hold", usd: settled_usd, shown: settled_usd !== cost_usd },
    { name: "Refunded", usd: -refunded_usd, shown: refunded_usd > 0 }
  ].filter(({ shown }) => shown)

/** One kind of usage at its price. `reasoning` is the number of reasoning tokens in the output. */
const Line = ({ line, reasoning }: { readonly line: CostLine; readonly reasoning: number }) => (
  <tr>
    <td>
      <span className="number">{count(line.many)}</span> {line.what}
      {line.what === "output tokens" && reasoning > 0 ? (
        <span className="muted">, {count(reasoning)} of them reasoning</span>
      ) : null}
    </td>
    <td className="number">{line.price}</td>
    <td className="number">{exactMoney(line.cost)}</td>
  </tr>
)

/** The cost of a request: a line for each kind of usage with its price, and the sum. */
export const CostLines = ({ receipt }: { readonly receipt: RequestReceipt }) => {
  const { cost_usd, price, usage, usage_basis } = receipt
  const lines = usage === null || price === null ? [] : costLines(usage, price)
  const reasoning = usage !== null && "reasoning_tokens" in usage ? usage.reasoning_tokens : 0
  return (
    <section className="card" aria-label="Price times usage">
      <header>
        <h2>How the cost is calculated</h2>
        <span className="muted small">
          {usage_basis === "reported"
            ? "Tokens as the provider reported them"
            : usage_basis === "counted"
              ? "Tokens as the gateway counted them"
              : ""}
        </span>
      </header>
      {lines.length === 0 ? (
        <Empty
          title={
            receipt.status === "open"
              ? "The request is still running."
              : "Nothing was delivered, so nothing was charged."
          }
        />
      ) : (
        <div className="body scroll" tabIndex={0} role="region" aria-label="Table: lines of the cost">
          <table className="lines">
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Price</th>
                <th scope="col">Cost</th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <Line key={line.what} line={line} reasoning={reasoning} />
              ))}
              {price?.promotion === undefined ? null : (
                <tr>
                  <td colSpan={3} className="muted">
                    The prices include {price.promotion.label}: {price.promotion.discount_percent}% off.
                  </td>
                </tr>
              )}
              {settlementsOf(receipt).map(({ name, usd }) => (
                <tr key={name}>
                  <td colSpan={2}>{name}</td>
                  <td className="number">
                    <Signed text={exactMoney(usd)} />
                  </td>
                </tr>
              ))}
              <tr className="sum">
                <th scope="row">Cost</th>
                <td />
                <td className="number">{exactMoney(cost_usd)}</td>
              </tr>
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
