/**
 * What the service counts, under the one set of names that operators see. An instrument is a few numbers in memory: counting only looks
 * up the labels, and the reader does all other work. A label never comes from a caller or an account. It is a provider, a model of the
 * catalogue, or one of a few words.
 */
import { Context, type Metric } from "effect"
import { family, Instruments, type Labels } from "./Instruments.ts"

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
  /** The price of the use beyond the hold, which the operator bears. */
  readonly absorbed: bigint
  /** What the provider charges for it. Undefined when that is unknown. */
  readonly providerCost: bigint | undefined
  /** What attempts that served no answer cost, in nano-USD. */
  readonly attemptCosts?: ReadonlyArray<{ readonly provider: string; readonly nano: number }> | undefined
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

const HOLD_OUTCOMES = ["admitted", "refused", "claimed", "key_inactive", "key_changed", "unavailable"] as const
export type HoldOutcome = (typeof HOLD_OUTCOMES)[number]

const httpInstruments = (instruments: Instruments) => {
  let inFlight = 0
  let count = 0
  instruments.gauge("http.server.active_requests", "Requests being answered", "{request}", () => inFlight)
  const requests = family((statusClass) =>
    instruments.counter("svc.http.requests", "Requests answered, by class of status", "{request}", {
      "http.response.status_class": statusClass!
    })
  )
  return {
    arrived: () => {
      inFlight++
      count++
    },
    /** How many requests arrived so far, and how many of them are being answered. */
    seen: () => ({ count, inFlight }),
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
  const holding = instruments.histogram(
    "svc.ledger.hold.duration",
    "Holds that were admitted, from asked for to committed",
    "s",
    OVERHEAD_SECONDS
  )
  const settling = instruments.histogram(
    "svc.ledger.settle.duration",
    "Ends of paid requests, from asked for to committed",
    "s",
    OVERHEAD_SECONDS
  )
  for (const outcome of HOLD_OUTCOMES) holds(outcome)(0)
  return {
    admitted: (durationMs: number) => holding(durationMs / 1_000),
    settled: (durationMs: number) => settling(durationMs / 1_000),
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
  const absorbed = instruments.counter(
    "svc.ledger.absorbed",
    "The price of use beyond holds, which the operator bears, in billionths of a USD",
    "{nano_usd}"
  )
  const costCounter = (name: string, description: string) =>
    family((provider) =>
      instruments.counter(name, description, "{nano_usd}", { "gen_ai.provider.name": providerName(provider!) })
    )
  const costs = costCounter("svc.provider.cost", "Charged by providers as far as known, in billionths of a USD")
  const wasted = costCounter(
    "svc.provider.attempt_cost",
    "Cost of attempts that served no answer, reported or estimated, in billionths of a USD"
  )
  return (figures: RequestFigures): void => {
    const { errorType = "", firstTokenMs, model, operation, provider, tokens, totalMs } = figures
    durations(operation, provider ?? "none", model, errorType)(totalMs / 1_000)
    if (figures.overheadMs !== undefined) overhead(figures.overheadMs / 1_000)
    for (const attempt of figures.attemptCosts ?? []) wasted(attempt.provider)(attempt.nano)
    if (provider === undefined) return
    settled(Number(figures.settled))
    absorbed(Number(figures.absorbed))
    costs(provider)(Number(figures.providerCost ?? 0n))
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
    /** Registers how many models of a provider have an open or half-open breaker, read at export time. */
    breakersOpen: (provider: string, read: () => number) =>
      instruments.gauge(
        "svc.provider.breakers.open",
        "Models of a provider with an open or half-open breaker",
        "{breaker}",
        read,
        { "gen_ai.provider.name": providerName(provider) }
      ),
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

const limitInstruments = (instruments: Instruments) => {
  const requests = family((window, outcome) =>
    instruments.counter("svc.ratelimit.requests", "Requests counted against rate limits, by outcome", "{request}", {
      "svc.limit": window!,
      "svc.outcome": outcome!
    })
  )
  let isShared = () => false
  instruments.gauge(
    "svc.ratelimit.shared",
    "1 while this node counts in Redis with all others, 0 while it counts by itself",
    "1",
    () => Number(isShared())
  )
  return {
    counted: (window: string, admitted: boolean) => requests(window, admitted ? "admitted" : "refused")(1),
    /** Sets how to find out whether the windows are shared. */
    sharedWhile: (look: () => boolean) => void (isShared = look)
  }
}

const webhookInstruments = (instruments: Instruments) => {
  const count = (outcome: string) =>
    instruments.counter("svc.webhook.attempts", "Attempts to deliver a webhook, by outcome", "{attempt}", {
      "svc.outcome": outcome
    })
  const attempts = {
    Delivered: count("delivered"),
    Retry: count("retry"),
    Failed: count("failed"),
    Gone: count("gone")
  }
  return { attempted: (verdict: keyof typeof attempts) => attempts[verdict](1) }
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
  readonly limits: ReturnType<typeof limitInstruments>
  readonly webhooks: ReturnType<typeof webhookInstruments>
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
    limits: limitInstruments(instruments),
    webhooks: webhookInstruments(instruments),
    gauge: (name, description, unit, read, labels) => instruments.gauge(name, description, unit, read, labels)
  }
}

/** The service's own metrics, without those that Effect registers by default. */
export const Metrics = Context.Reference<Metrics>("tollgate/platform/Metrics", { defaultValue: makeMetrics })
