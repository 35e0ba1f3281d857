/**
 * What the service counts, under the one set of names that operators see. An instrument is a few numbers in memory: counting only looks
 * up the labels, and the reader does all other work. A label never comes from a caller or an account. It is a provider, a model of the
 * catalogue, or one of a few words.
 */
import { Context, Metric } from "effect"

/** Bucket boundaries of OpenTelemetry's GenAI semantic conventions. */
const DURATION_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const FIRST_TOKEN_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const OUTPUT_TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power)

/** Bucket boundaries of our own: powers of two around the usual values. */
const OVERHEAD_SECONDS = Array.from({ length: 14 }, (_, power) => 0.000_5 * 2 ** power)
const GROUP_SIZE = Array.from({ length: 8 }, (_, power) => 2 ** power)

const wellKnown: Readonly<Record<string, string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  xai: "x_ai",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai"
}

/** The `gen_ai.provider.name` of a provider: the convention's name where it defines one. */
export const providerName = (provider: string): string => wellKnown[provider] ?? provider

type Labels = Readonly<Record<string, string>>

const unused = () => undefined

/** The units that OpenMetrics puts into the name of a metric. */
const UNIT_SUFFIXES: Readonly<Record<string, string>> = { s: "_seconds", By: "_bytes", "{nano_usd}": "_nano_usd" }

/** Instruments in Effect's registry, from which `/metrics` and the OTLP export are written. */
class Instruments {
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
    this.#suffix(name, unit, "_total")
    const metric = Metric.counter(name, { description, incremental: true, attributes: { ...labels, unit } })
    const get = () => ({ count, incremental: true })
    Metric.registerUnsafe(metric, this.#context, { get, update: unused, modify: unused })
    return (more) => {
      count += more
    }
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
const family = <A>(make: (...labels: ReadonlyArray<string>) => A): ((...labels: ReadonlyArray<string>) => A) => {
  const made = new Map<string, A>()
  return (...labels) => {
    const key = labels.length === 1 ? labels[0]! : labels.join(" ")
    let found = made.get(key)
    if (found === undefined) {
      found = make(...labels)
      made.set(key, found)
    }
    return found
  }
}

const genAiLabels = (operation: string, provider: string, model: string, error: string): Labels => ({
  "gen_ai.operation.name": operation,
  "gen_ai.provider.name": providerName(provider),
  "gen_ai.request.model": model,
  ...(error === "" ? {} : { "error.type": error })
})

/** The figures of a paid request that has ended. Times are in milliseconds. */
export interface RequestFigures {
  /** The operation, as `gen_ai.operation.name` spells it. */
  readonly operation: string
  /** The provider that served the request; undefined when none did. */
  readonly provider: string | undefined
  readonly model: string
  readonly errorType: string | undefined
  readonly totalMs: number
  /** Absent when no client waits for the answer. */
  readonly overheadMs?: number
  readonly firstTokenMs: number | null
  /** Undefined when the price does not depend on tokens. */
  readonly tokens: { readonly input: number; readonly output: number } | undefined
  readonly settled: bigint
}

/** The figures of a provider call that has ended. */
export interface AttemptFigures {
  /** The operation, as `gen_ai.operation.name` spells it. */
  readonly operation: string
  readonly provider: string
  readonly model: string
  readonly outcome: "served" | "failed" | "cancelled"
  readonly errorType: string | undefined
  readonly durationMs: number
}

export type HoldOutcome = "admitted" | "refused" | "claimed" | "key_inactive" | "key_changed" | "unavailable"

const httpInstruments = (instruments: Instruments) => {
  let inFlight = 0
  instruments.gauge("http.server.active_requests", "Requests being answered", "{request}", () => inFlight)
  const requests = family((statusClass) =>
    instruments.counter("svc.http.requests", "Requests answered, by class of status", "{request}", {
      "http.response.status_class": statusClass!
    })
  )
  return {
    arrived: () => void inFlight++,
    /** Status 0 means that the connection closed before the response. */
    left: (status: number) => {
      inFlight--
      requests(status === 0 ? "none" : `${Math.floor(status / 100)}xx`)(1)
    }
  }
}

const ledgerInstruments = (instruments: Instruments) => {
  let open = 0
  instruments.gauge("svc.ledger.holds.open", "Holds that this process has open", "{hold}", () => open)
  const holds = family((outcome) =>
    instruments.counter("svc.ledger.holds", "Holds asked for, by outcome", "{hold}", { "svc.outcome": outcome! })
  )
  const size = instruments.histogram(
    "svc.ledger.group.size",
    "Operations committed together",
    "{operation}",
    GROUP_SIZE
  )
  const duration = instruments.histogram(
    "svc.ledger.commit.duration",
    "The statement of a group, from sent to committed",
    "s",
    OVERHEAD_SECONDS
  )
  return {
    held: (outcome: HoldOutcome) => {
      if (outcome === "admitted") open++
      holds(outcome)(1)
    },
    closed: () => void open--,
    committed: (operations: number, durationMs: number) => {
      size(operations)
      duration(durationMs / 1_000)
    }
  }
}

const requestInstruments = (instruments: Instruments) => {
  const durations = family((operation, provider, model, error) =>
    instruments.histogram(
      "gen_ai.server.request.duration",
      "Paid requests, from arrival to settled",
      "s",
      DURATION_SECONDS,
      genAiLabels(operation!, provider!, model!, error!)
    )
  )
  const served = family((operation, provider, model) => {
    const labels = genAiLabels(operation!, provider!, model!, "")
    const tokens = (type: string) =>
      instruments.histogram("gen_ai.client.token.usage", "Tokens charged for", "{token}", TOKENS, {
        ...labels,
        "gen_ai.token.type": type
      })
    return {
      input: tokens("input"),
      output: tokens("output"),
      firstToken: instruments.histogram(
        "gen_ai.server.time_to_first_token",
        "Streams, from arrival to the first content",
        "s",
        FIRST_TOKEN_SECONDS,
        labels
      ),
      perOutputToken: instruments.histogram(
        "gen_ai.server.time_per_output_token",
        "Streams, the time of each output token after the first",
        "s",
        OUTPUT_TOKEN_SECONDS,
        labels
      )
    }
  })
  const overhead = instruments.histogram(
    "svc.gateway.overhead",
    "Of a paid request, the time that no provider took",
    "s",
    OVERHEAD_SECONDS
  )
  const settled = instruments.counter(
    "svc.ledger.settled",
    "Charged for requests, in billionths of a USD",
    "{nano_usd}"
  )
  return (figures: RequestFigures): void => {
    const { errorType = "", firstTokenMs, model, operation, provider, tokens, totalMs } = figures
    durations(operation, provider ?? "none", model, errorType)(totalMs / 1_000)
    if (figures.overheadMs !== undefined) overhead(figures.overheadMs / 1_000)
    if (provider === undefined) return
    settled(Number(figures.settled))
    if (tokens === undefined) return
    const { firstToken, input, output, perOutputToken } = served(operation, provider, model)
    input(tokens.input)
    output(tokens.output)
    if (firstTokenMs === null) return
    firstToken(firstTokenMs / 1_000)
    if (tokens.output > 1) perOutputToken((totalMs - firstTokenMs) / 1_000 / (tokens.output - 1))
  }
}

const attemptInstruments = (instruments: Instruments) => {
  const attempts = family((provider, outcome) =>
    instruments.counter("svc.provider.attempts", "Calls to providers, by outcome", "{call}", {
      "gen_ai.provider.name": providerName(provider!),
      "svc.outcome": outcome!
    })
  )
  const durations = family((operation, provider, model, error) =>
    instruments.histogram(
      "gen_ai.client.operation.duration",
      "Calls to providers, whole",
      "s",
      DURATION_SECONDS,
      genAiLabels(operation!, provider!, model!, error!)
    )
  )
  return ({ durationMs, errorType = "", model, operation, outcome, provider }: AttemptFigures): void => {
    attempts(provider, outcome)(1)
    durations(operation, provider, model, errorType)(durationMs / 1_000)
  }
}

const providerInstruments = (instruments: Instruments) => {
  const transitions = family((provider, model, state) =>
    instruments.counter("svc.provider.breaker.transitions", "Breakers opened, probed and closed", "{transition}", {
      "gen_ai.provider.name": providerName(provider!),
      "gen_ai.request.model": model!,
      "svc.breaker.state": state!
    })
  )
  const passedOver = family((provider) =>
    instruments.counter("svc.provider.passed_over", "Candidates left out because their breaker was open", "{call}", {
      "gen_ai.provider.name": providerName(provider!)
    })
  )
  const retries = family((provider) =>
    instruments.counter("svc.provider.retries", "Calls to a provider that had failed the same request", "{call}", {
      "gen_ai.provider.name": providerName(provider!)
    })
  )
  const hedges = family((provider, outcome) =>
    instruments.counter("svc.provider.hedges", "Second calls beside a slow first one, by outcome", "{call}", {
      "gen_ai.provider.name": providerName(provider!),
      "svc.outcome": outcome!
    })
  )
  const states = ["open", "half_open", "closed"] as const
  return {
    /** Creates the counters of a provider's model at zero, before its first call. */
    met: (provider: string, model: string) => {
      for (const state of states) transitions(provider, model, state)(0)
      for (const outcome of ["won", "lost"]) hedges(provider, outcome)(0)
      passedOver(provider)(0)
      retries(provider)(0)
    },
    breaker: (provider: string, model: string, state: (typeof states)[number]) =>
      transitions(provider, model, state)(1),
    passedOver: (provider: string) => passedOver(provider)(1),
    retried: (provider: string) => retries(provider)(1),
    hedged: (provider: string, outcome: "won" | "lost") => hedges(provider, outcome)(1)
  }
}

const autoInstruments = (instruments: Instruments) => {
  const count = (by: string) =>
    instruments.counter("svc.auto.requests", "Paid requests to svc/auto, by the source of their task", "{request}", {
      "svc.classified_by": by
    })
  const requests = { regex: count("regex"), llm: count("llm"), "llm-cached": count("llm-cached") }
  const calls = (outcome: string) =>
    instruments.counter("svc.auto.classifier.calls", "Calls to the model that classifies, by outcome", "{call}", {
      "svc.outcome": outcome
    })
  const [labelled, unlabelled] = [calls("labelled"), calls("unlabelled")]
  const cost = instruments.counter(
    "svc.auto.classifier.cost",
    "What the model that classifies has cost the house, in billionths of a USD",
    "{nano_usd}"
  )
  return {
    classified: (by: keyof typeof requests) => requests[by](1),
    asked: (hadLabel: boolean) => (hadLabel ? labelled : unlabelled)(1),
    spent: (nano: bigint) => cost(Number(nano))
  }
}

/** Counts events. */
export interface Metrics {
  /** Everything counted so far, for the exporters. */
  readonly registry: Metric.MetricRegistry
  readonly http: ReturnType<typeof httpInstruments>
  readonly ledger: ReturnType<typeof ledgerInstruments>
  readonly request: (figures: RequestFigures) => void
  readonly attempt: (figures: AttemptFigures) => void
  readonly provider: ReturnType<typeof providerInstruments>
  readonly auto: ReturnType<typeof autoInstruments>
  /** The name of a metric in Prometheus' text. */
  readonly prometheusName: (name: string) => string
  /** Registers a gauge of this process that is read at export time. */
  readonly gauge: (name: string, description: string, unit: string, read: () => number, labels?: Labels) => void
}

/** Creates a set of instruments at zero. */
export const makeMetrics = (): Metrics => {
  const registry: Metric.MetricRegistry = new Map()
  const instruments = new Instruments(registry)
  return {
    registry,
    prometheusName: (name) => instruments.prometheusName(name),
    http: httpInstruments(instruments),
    ledger: ledgerInstruments(instruments),
    request: requestInstruments(instruments),
    attempt: attemptInstruments(instruments),
    provider: providerInstruments(instruments),
    auto: autoInstruments(instruments),
    gauge: (name, description, unit, read, labels) => instruments.gauge(name, description, unit, read, labels)
  }
}

/** The service's own metrics, without those that Effect registers by default. */
export const Metrics = Context.Reference<Metrics>("tollgate/platform/Metrics", { defaultValue: makeMetrics })
