/** Two providers of a model, one of which fails every request: the failures that callers see, and the added time. */
import { Effect } from "effect"
import { percentile } from "./Figures.ts"
import { closedLoop } from "./Load.ts"
import { type Failures, rotate, type Samples } from "./Measure.ts"
import { node, startServer } from "./Processes.ts"
import { atMost, milliseconds, type Row } from "./Report.ts"
import { fileOf, type Target, type Testbed } from "./Testbed.ts"

const CONCURRENCY = 8
/** Short turns, so that a disturbance of the machine affects both sides alike. */
const TURNS = 40

interface Side {
  readonly name: "both healthy" | "one failing"
  readonly target: Target
}

export const failover = Effect.fnUntraced(function* (testbed: Testbed, samples: Samples, failures: Failures) {
  const { failoverRequests, startSeconds } = testbed.options
  const mock = (...words: ReadonlyArray<string>) =>
    startServer({ name: "a mock upstream", ...node(fileOf("mockUpstream"), ...words) })
  const [first, second, broken] = [yield* mock(), yield* mock(), yield* mock("failing")]
  const sides: readonly [Side, Side] = [
    { name: "both healthy", target: yield* testbed.gatewayTo({ first: first.port, second: second.port }) },
    { name: "one failing", target: yield* testbed.gatewayTo({ failing: broken.port, well: second.port }) }
  ]
  let [failed, total] = [0, 0]
  const load = (side: Side, many: { readonly seconds: number; readonly requests?: number }) =>
    Effect.map(
      Effect.promise(() => closedLoop(side.target.endpoint, { ...many, concurrency: CONCURRENCY, streamed: false })),
      (outcome) => {
        failures.add(`failover, ${side.name}`, outcome)
        if (side.name === "one failing") {
          failed += outcome.failed
          total += outcome.failed + outcome.completed
        }
        return percentile(outcome.latencies, 0.5)
      }
    )
  // The breaker opens here. The requests that open it count too, because none of them may fail.
  for (const side of sides) yield* load(side, { seconds: startSeconds })
  const requests = Math.ceil(failoverRequests / TURNS)
  yield* rotate("failover", TURNS, [sides], ([healthy, failing]) =>
    Effect.gen(function* () {
      const usual = yield* load(healthy, { seconds: Infinity, requests })
      const without = yield* load(failing, { seconds: Infinity, requests })
      samples.add("p50, both healthy", usual)
      samples.add("p50, one failing", without)
      samples.add("p50 ratio, one failing over both healthy", without / usual)
    })
  )
  const p50 = (name: Side["name"]) => samples.median(`p50, ${name}`)
  // The ratio of neighbouring turns, because a machine's speed changes from minute to minute.
  const ratio = samples.median("p50 ratio, one failing over both healthy")
  const rows: ReadonlyArray<Row> = [
    {
      label: "p50 with one of two providers failing, beside both healthy",
      baseline: milliseconds(p50("both healthy")),
      gateway: milliseconds(p50("one failing")),
      ratio,
      must: atMost(ratio, 1.1, " ×")
    },
    { label: `– failures in ${total} requests`, gateway: String(failed), must: atMost(failed, 0, "") }
  ]
  return rows
}, Effect.scoped)
