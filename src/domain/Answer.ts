import type { RoutingSummary } from "../../schemas/Routing.ts"
import type { Failure } from "./Failure.ts"
import type { Nano } from "./Money.ts"
import type { Output, OutputEvent } from "./Output.ts"
import type { TokenUsage } from "./Usage.ts"

/** The version of a preset that a request uses. */
export interface PresetUse {
  readonly slug: string
  readonly version: number
}

/** The facts that accompany every paid answer. */
export interface PaidAnswer {
  readonly requestId: string
  /** Unix seconds. */
  readonly created: number
  readonly resolvedModel: string
  readonly provider: string
  readonly cost: Nano
  /** The warning about a low balance, if it is low. */
  readonly balanceWarning: string | undefined
}

/** A paid chat answer, independent of any dialect. It contains everything needed to send it, and to send it again. */
export interface Answer extends PaidAnswer {
  /** As the client named it. */
  readonly model: string
  readonly preset?: PresetUse | undefined
  readonly output: Output
  readonly usage: TokenUsage
  readonly routing: RoutingSummary
}

/** An item of a stream for the caller. `End` or `Error` comes once, last, after the settle. */
export type StreamItem =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<OutputEvent> }
  | { readonly _tag: "KeepAlive" }
  | { readonly _tag: "End"; readonly answer: Answer }
  /** `cost` is the charge of a stream that a provider served, and absent when the charge is unknown. */
  | { readonly _tag: "Error"; readonly failure: Failure; readonly cost?: Nano }
