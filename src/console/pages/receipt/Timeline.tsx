import type { RequestReceipt } from "../../../client/Contract.ts"
import { duration } from "../../format/Figures.ts"
import { stepsOf } from "./Steps.ts"

/** The hold, the attempts and the settlement of a request on one time axis. */
export const Timeline = ({ receipt }: { readonly receipt: RequestReceipt }) => {
  const steps = stepsOf(receipt)
  const end = Math.max(...steps.map(({ to }) => to), 1)
  const x = (ms: number) => (ms / end) * 100
  return (
    <section className="card" aria-label="Timeline">
      <header>
        <h2>Timeline</h2>
        <span className="muted small number">
          {receipt.timings.overhead_ms === null ? "" : `${duration(receipt.timings.overhead_ms)} in the gateway`}
        </span>
      </header>
      {steps.length === 0 ? (
        <div className="body muted">The request ended before a hold was made.</div>
      ) : (
        <ol className="body timeline">
          {steps.map(({ first, from, kind, name, note, to }, index) => (
            <li key={index} className="step">
              <span className="clip strong">{name}</span>
              <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                <rect className="rail-line" width="100" height="8" />
                <rect
                  className={first === undefined ? kind : "waiting"}
                  x={Math.min(x(from), 99)}
                  width={Math.max(x(to) - x(from), 0.8)}
                  height="8"
                />
                {first === undefined ? null : (
                  <rect
                    className={kind}
                    x={Math.min(x(first), 99)}
                    width={Math.max(x(to) - x(first), 0.8)}
                    height="8"
                  />
                )}
              </svg>
              <span className="muted small number">{note}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
