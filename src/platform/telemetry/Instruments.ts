/** Instruments that cost a few numbers in memory, and from which the exporters read. */
import { Context, Metric } from "effect"

/** The labels of a series: a few words, never a caller or an account. */
export type Labels = Readonly<Record<string, string>>

const unused = () => undefined

/** The units that OpenMetrics puts into the name of a metric. */
const UNIT_SUFFIXES: Readonly<Record<string, string>> = {
  s: "_seconds",
  By: "_bytes",
  "{nano_usd}": "_nano_usd",
  "{token}/s": "_tokens_per_second"
}

/** Instruments in Effect's registry, from which `/metrics` and the OTLP export are written. */
export class Instruments {
  readonly #context: Context.Context<never>
  readonly #suffixes = new Map<string, string>()

  constructor(registry: Metric.MetricRegistry) {
    this.#context = Context.make(Metric.MetricRegistry, registry)
  }

  /** The name in Prometheus' text: by OpenMetrics it ends in the unit, and that of a counter in `_total`. */
  prometheusName(name: string): string {
    return name + (this.#suffixes.get(name) ?? "")
  }

  #suffix(name: string, unit: string, more = ""): void {
    this.#suffixes.set(name, (UNIT_SUFFIXES[unit] ?? "") + more)
  }

  counter(name: string, description: string, unit: string, labels: Labels = {}): (more: number) => void {
    let count = 0
    this.total(name, description, unit, () => count, labels)
    return (more) => {
      count += more
    }
  }

  /** A counter with a value that something else counts. It is read at export time. */
  total(name: string, description: string, unit: string, read: () => number, labels: Labels = {}): void {
    this.#suffix(name, unit, "_total")
    const metric = Metric.counter(name, { description, incremental: true, attributes: { ...labels, unit } })
    const get = () => ({ count: read(), incremental: true })
    Metric.registerUnsafe(metric, this.#context, { get, update: unused, modify: unused })
  }

  gauge(name: string, description: string, unit: string, read: () => number, labels: Labels = {}): void {
    this.#suffix(name, unit)
    const metric = Metric.gauge(name, { description, attributes: { ...labels, unit } })
    const get = () => ({ value: read() })
    Metric.registerUnsafe(metric, this.#context, { get, update: unused, modify: unused })
  }

  histogram(
    name: string,
    description: string,
    unit: string,
    boundaries: ReadonlyArray<number>,
    labels: Labels = {}
  ): (value: number) => void {
    this.#suffix(name, unit)
    const counts = boundaries.map(() => 0)
    const seen = { count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
    const metric = Metric.histogram(name, { description, boundaries, attributes: { ...labels, unit } })
    const get = () => {
      let upTo = 0
      // Without an observation there is no minimum and no maximum, and JSON has no infinity.
      const bounds = seen.count === 0 ? { min: 0, max: 0 } : {}
      return {
        ...seen,
        ...bounds,
        buckets: boundaries.map((bound, index) => [bound, (upTo += counts[index]!)] as const)
      }
    }
    Metric.registerUnsafe(metric, this.#context, {
      get: get as never,
      update: unused,
      modify: unused
    })
    return (value) => {
      seen.count++
      seen.sum += value
      if (value < seen.min) seen.min = value
      if (value > seen.max) seen.max = value
      for (let index = 0; index < boundaries.length; index++) {
        if (value <= boundaries[index]!) {
          counts[index]!++
          return
        }
      }
    }
  }
}

/** Creates an instrument of a family when its labels first occur, and returns the same one for the same labels later. */
export const family = <A>(make: (...labels: ReadonlyArray<string>) => A): ((...labels: ReadonlyArray<string>) => A) => {
  const instruments = new Map<string, A>()
  return (...labels) => {
    const key = labels.length === 1 ? labels[0]! : labels.join(" ")
    let found = instruments.get(key)
    if (found === undefined) {
      found = make(...labels)
      instruments.set(key, found)
    }
    return found
  }
}
