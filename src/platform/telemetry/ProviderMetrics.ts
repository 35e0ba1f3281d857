import { DURATION_SECONDS, WAIT_SECONDS } from "./Buckets.ts"
import { family, type Instruments, type Labels } from "./Instruments.ts"

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

/** The labels of a call to a model, by the conventions. */
export const genAiLabels = (operation: string, provider: string, model: string, error: string): Labels => ({
  "gen_ai.operation.name": operation,
  "gen_ai.provider.name": providerName(provider),
  "gen_ai.request.model": model,
  ...(error === "" ? {} : { "error.type": error })
})

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

/** Counts calls to providers. */
export const attemptInstruments = (instruments: Instruments) => {
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

/** Counts retries, fallbacks and breakers of failing providers. */
export const providerInstruments = (instruments: Instruments) => {
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
  const openings = family((provider) =>
    instruments.histogram(
      "svc.provider.breaker.open.duration",
      "Breakers that closed again, from opened to closed",
      "s",
      WAIT_SECONDS,
      { "gen_ai.provider.name": providerName(provider!) }
    )
  )
  const states = ["open", "half_open", "closed"] as const
  return {
    /** Creates the counters of a provider's model at zero, before its first call. */
    met: (provider: string, model: string) => {
      for (const state of states) transitions(provider, model, state)(0)
      for (const outcome of ["won", "lost"]) hedges(provider, outcome)(0)
      passedOver(provider)(0)
      retries(provider)(0)
      openings(provider)
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
    /** Records that a breaker has closed, and how long it was open or half-open. */
    recovered: (provider: string, openMs: number) => openings(provider)(openMs / 1_000),
    passedOver: (provider: string) => passedOver(provider)(1),
    retried: (provider: string) => retries(provider)(1),
    hedged: (provider: string, outcome: "won" | "lost") => hedges(provider, outcome)(1)
  }
}
