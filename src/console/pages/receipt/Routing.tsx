import { Link } from "@tanstack/react-router"
import type { RequestReceipt, RoutingSummary } from "../../../client/Contract.ts"
import { plural } from "../../format/Words.ts"

const strategies: Readonly<Record<RoutingSummary["strategy"], string>> = {
  balanced: "balances price, latency and success",
  cost: "prefers the lowest price",
  latency: "prefers the lowest latency",
  quality: "prefers the best rating"
}

const policies: Readonly<Record<RoutingSummary["data_policy"], string>> = {
  default: "Any provider may serve it.",
  no_training: "Only providers that do not train on data may serve it.",
  zero_retention: "Only providers that keep nothing may serve it."
}

const sources: Readonly<Record<NonNullable<RoutingSummary["source"]>, string>> = {
  request: "The request asks for this routing.",
  project: "The project's routing policy says so.",
  default: "This is the default."
}

const sentencesOf = (routing: RoutingSummary): ReadonlyArray<string> => {
  const attempts = routing.provider_attempts ?? []
  const failed = attempts.filter(({ outcome }) => outcome !== "served")
  return [
    `The strategy is ${routing.strategy}: the gateway ${strategies[routing.strategy]}. ${sources[routing.source ?? "default"]}`,
    routing.requested_models.length > 1
      ? `The request names ${routing.requested_models.join(", ")}, in this order; ${routing.resolved_model} served it.`
      : `The request names ${routing.requested_models.join()}${
          routing.requested_models[0] === routing.resolved_model ? "." : `, which became ${routing.resolved_model}.`
        }`,
    failed.length === 0
      ? routing.provider === null
        ? "No provider served it."
        : `The provider ${routing.provider} served it at the first attempt.`
      : `${failed.map(({ provider }) => provider).join(", ")} failed${
          routing.provider === null
            ? "."
            : `; ${routing.provider} answered after ${plural(failed.length, "failed attempt")}.`
        }`,
    routing.fallbacks_allowed ? "Fallbacks are allowed." : "Fallbacks are not allowed.",
    policies[routing.data_policy]
  ]
}

/** Explains why this model and this provider answered. */
export const Routing = ({ receipt: { routing } }: { readonly receipt: RequestReceipt }) =>
  routing === null ? null : (
    <section className="card" aria-label="Routing">
      <header>
        <h2>Why this model and provider</h2>
      </header>
      <div className="body grid">
        <div className="prose">
          {routing.router === undefined ? null : <p>{routing.router.reasoning}</p>}
          <p>{sentencesOf(routing).join(" ")}</p>
        </div>
        {routing.router === undefined ? null : (
          <div className="scroll" tabIndex={0} role="region" aria-label="Models that were considered">
            <table className="lines">
              <thead>
                <tr>
                  <th scope="col">Considered</th>
                  <th scope="col">Decision</th>
                </tr>
              </thead>
              <tbody>
                {routing.router.considered.map(({ model, reason }) => (
                  <tr key={String(model)}>
                    <td>
                      <Link to="/models/$" params={{ _splat: String(model) }}>
                        {String(model)}
                      </Link>
                    </td>
                    <td className="muted">{String(reason)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
    </section>
  )
