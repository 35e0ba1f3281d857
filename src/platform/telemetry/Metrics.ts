/**
 * What the service counts, under the one set of names that operators see. An instrument is a few numbers in memory: counting only looks
 * up the labels, and the reader does all other work. A label never comes from a caller or an account. It is a provider, a model of the
 * catalogue, or one of a few words.
 */
import { Context, type Metric } from "effect"
import {
  ABSORBED_NANO_USD,
  DURATION_SECONDS,
  FIRST_TOKEN_SECONDS,
  GROUP_SIZE,
  OUTPUT_TOKEN_SECONDS,
  OVERHEAD_SECONDS,
  TOKENS,
  TOKENS_PER_SECOND,
  WAIT_SECONDS
} from "./Buckets.ts"
import { httpInstruments } from "./HttpMetrics.ts"
import { family, Instruments, type Labels } from "./Instruments.ts"
import {
  type AttemptFigures,
  attemptInstruments,
  genAiLabels,
  providerInstruments,
  providerName
} from "./ProviderMetrics.ts"

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

const HOLD_OUTCOMES = ["admitted", "refused", "claimed", "key_inactive", "key_changed", "unavailable"] as const
export type HoldOutcome = (typeof HOLD_OUTCOMES)[number]

const ledgerInstruments = (instruments: Instruments) => {
  let open = 0
  let groups = 0
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
    /** How many groups of operations were committed so far. */
    seen: () => groups,
    committed: (operations: number, durationMs: number) => {
      groups++
      size(operations)
      duration(durationMs / 1_000)
    }
  }
}

const costInstruments = (instruments: Instruments, name: string, what: string, onNew?: (provider: string) => void) =>
  family((provider) => {
    onNew?.(provider!)
    const labels = { "gen_ai.provider.name": providerName(provider!) }
    return instruments.counter(name, `${what}, in billionths of a USD`, "{nano_usd}", labels)
  })

const servedInstruments = (instruments: Instruments) =>
  family((operation, provider, model) => {
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
      ),
      outputRate: instruments.histogram(
        "svc.stream.output",
        "Streams, output tokens per second after the first",
        "{token}/s",
        TOKENS_PER_SECOND,
        labels
      )
    }
  })

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
  const served = servedInstruments(instruments)
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
  const absorbedEach = instruments.histogram(
    "svc.request.absorbed",
    "Requests that used more than their holds: the price beyond the hold, in billionths of a USD",
    "{nano_usd}",
    ABSORBED_NANO_USD
  )
  const failedAttempts = "Cost of attempts that served no answer, reported or estimated"
  const wasted = costInstruments(instruments, "svc.provider.attempt_cost", failedAttempts)
  // A provider whose attempts have all served shows zero.
  const first = (provider: string) => wasted(provider)(0)
  const costs = costInstruments(instruments, "svc.provider.cost", "Charged by providers as far as known", first)
  return (figures: RequestFigures): void => {
    const { errorType = "", firstTokenMs, model, operation, provider, tokens, totalMs } = figures
    durations(operation, provider ?? "none", model, errorType)(totalMs / 1_000)
    if (figures.overheadMs !== undefined) overhead(figures.overheadMs / 1_000)
    for (const attempt of figures.attemptCosts ?? []) wasted(attempt.provider)(attempt.nano)
    if (provider === undefined) return
    settled(Number(figures.settled))
    absorbed(Number(figures.absorbed))
    if (figures.absorbed > 0n) absorbedEach(Number(figures.absorbed))
    costs(provider)(Number(figures.providerCost ?? 0n))
    // A query of it finds every provider that served, also one without a failed attempt.
    wasted(provider)(0)
    if (tokens === undefined) return
    const { firstToken, input, output, outputRate, perOutputToken } = served(operation, provider, model)
    input(tokens.input)
    output(tokens.output)
    if (firstTokenMs === null) return
    firstToken(firstTokenMs / 1_000)
    if (tokens.output <= 1) return
    const seconds = (totalMs - firstTokenMs) / 1_000
    perOutputToken(seconds / (tokens.output - 1))
    if (seconds > 0) outputRate((tokens.output - 1) / seconds)
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
    "What the model that classifies has cost the operator, in billionths of a USD",
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
  const duration = instruments.histogram(
    "svc.ratelimit.duration",
    "Requests counted against rate limits, from asked for to decided",
    "s",
    OVERHEAD_SECONDS
  )
  let isShared = () => false
  instruments.gauge(
    "svc.ratelimit.shared",
    "1 while this node counts in Redis with all others, 0 while it counts by itself",
    "1",
    () => Number(isShared())
  )
  return {
    counted: (window: string, admitted: boolean, durationMs: number) => {
      requests(window, admitted ? "admitted" : "refused")(1)
      duration(durationMs / 1_000)
    },
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

const jobInstruments = (instruments: Instruments) => {
  const waits = family((queue) =>
    instruments.histogram("svc.jobs.wait.duration", "New jobs, from due to taken by a worker", "s", WAIT_SECONDS, {
      "svc.queue": queue!
    })
  )
  return {
    /** Creates the figures of a queue before its first job. */
    met: (queue: string) => void waits(queue),
    taken: (queue: string, waitedMs: number) => waits(queue)(waitedMs / 1_000)
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
  readonly limits: ReturnType<typeof limitInstruments>
  readonly webhooks: ReturnType<typeof webhookInstruments>
  readonly jobs: ReturnType<typeof jobInstruments>
  /** The name of a metric in Prometheus' text. */
  readonly prometheusName: (name: string) => string
  /** Registers a gauge of this process that is read at export time. */
  readonly gauge: (name: string, description: string, unit: string, read: () => number, labels?: Labels) => void
  /** Registers a counter of this process that is read at export time. */
  readonly total: (name: string, description: string, unit: string, read: () => number) => void
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
    jobs: jobInstruments(instruments),
    gauge: (name, description, unit, read, labels) => instruments.gauge(name, description, unit, read, labels),
    total: (name, description, unit, read) => instruments.total(name, description, unit, read)
  }
}

/** The service's own metrics, without those that Effect registers by default. */
export const Metrics = Context.Reference<Metrics>("tollgate/platform/Metrics", { defaultValue: makeMetrics })
