/** Two providers of a model, one of which fails whatever it is asked: what callers see of it, and what it costs them. */
import { Effect } from "effect"
import { percentile } from "./Figures.ts"
import { closedLoop } from "./Load.ts"
import { type Faults, rotate, type Samples } from "./Measure.ts"
import { listen, node } from "./Processes.ts"
import { atMost, milliseconds, type Row } from "./Report.ts"
import { fileOf, type Stage, type Target } from "./Stage.ts"

const CONCURRENCY = 8
/** Short turns, so that what the machine does meanwhile meets both alike. */
const TURNS = 40

interface Side {
  readonly name: "both healthy" | "one failing"
  readonly target: Target
}

export const failover = Effect.fnUntraced(function* (stage: Stage, samples: Samples, faults: Faults) {
  const { failoverRequests, startSeconds } = stage.options
  const mock = (...words: ReadonlyArray<string>) =>
    listen({ name: "a mock upstream", ...node(fileOf("mockUpstream"), ...words) })
  const [well, other, broken] = [yield* mock(), yield* mock(), yield* mock("failing")]
  const sides: readonly [Side, Side] = [
    { name: "both healthy", target: yield* stage.gatewayTo({ first: well.port, second: other.port }) },
    { name: "one failing", target: yield* stage.gatewayTo({ failing: broken.port, well: other.port }) }
  ]
  let [failed, seen] = [0, 0]
  const load = (side: Side, many: { readonly seconds: number; readonly requests?: number }) =>
    Effect.map(
      Effect.promise(() => closedLoop(side.target.endpoint, { ...many, concurrency: CONCURRENCY, streamed: false })),
      (outcome) => {
        faults.add(`failover, ${side.name}`, outcome)
        if (side.name === "one failing") {
          failed += outcome.failed
          seen += outcome.failed + outcome.completed
        }
        return percentile(outcome.latencies, 0.5)
      }
    )
  // The breaker opens here, and the requests that open it count among those that may not fail.
  for (const side of sides) yield* load(side, { seconds: startSeconds })
  const requests = Math.ceil(failoverRequests / TURNS)
  yield* rotate("failover", TURNS, [sides], ([healthy, failing]) =>
    Effect.gen(function* () {
      const usual = yield* load(healthy, { seconds: Infinity, requests })
      const without = yield* load(failing, { seconds: Infinity, requests })
      samples.add("p50, both healthy", usual)
      samples.add("p50, one failing", without)
      samples.add("p50, one failing, in parts of both healthy", without / usual)
    })
  )
  const p50 = (name: Side["name"]) => samples.median(`p50, ${name}`)
  // Of neighbouring turns, since a machine is not the same from one minute to the next.
  const ratio = samples.median("p50, one failing, in parts of both healthy")
  const rows: ReadonlyArray<Row> = [
    {
      label: "p50 with one of two providers failing, beside both healthy",
      baseline: milliseconds(p50("both healthy")),
      gateway: milliseconds(p50("one failing")),
      ratio,
      must: atMost(ratio, 1.1, " ×")
    },
    { label: `– failures in ${seen} requests`, gateway: String(failed), must: atMost(failed, 0, "") }
  ]
  return rows
}, Effect.scoped)
