/** The model ID that asks the router to choose. */
export const AUTO_MODEL = "svc/auto"

/** Price bands. Each holds a fifth of the models that can serve a request, cheapest first. */
export const COST_TIERS = ["low", "medium", "high", "xhigh", "max"] as const

export type CostTier = (typeof COST_TIERS)[number]

/** The client's options for the choice. */
export interface AutoOptions {
  /** The allowed IDs or patterns; undefined allows every model. */
  readonly allowedModels: ReadonlyArray<string> | undefined
  readonly excludedModels: ReadonlyArray<string>
  readonly costTier: CostTier | undefined
  /** Whether a session keeps the model of its first request. */
  readonly pinModel: boolean
}

export const defaultAutoOptions: AutoOptions = {
  allowedModels: undefined,
  excludedModels: [],
  costTier: undefined,
  pinModel: false
}

/** The options of a request that let `svc/auto` choose a model. */
export interface AutoRequestOptions {
  readonly options: AutoOptions
  readonly sessionId: string | undefined
}
