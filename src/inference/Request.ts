import type { Principal } from "../../schemas/Access.ts"
import type { Conversation } from "../domain/Conversation.ts"
import type { Failure } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import type { RoutingPolicy } from "../domain/Plan.ts"
import type { Claim } from "../ledger/Operation.ts"
import type { Trace } from "../platform/Tracing.ts"
import type { AutoOptions } from "../router/AutoRouter.ts"
import type { Listed } from "../router/Chain.ts"

/** What a caller says for the case that `svc/auto` chooses. */
export interface AutoWish {
  readonly options: AutoOptions
  readonly sessionId: string | undefined
}

/** The version of a preset that takes part in a request. */
export interface PresetUse {
  readonly slug: string
  readonly version: number
}

/** What a closed hold says of the work it was for. */
export interface Settled {
  readonly model: string
  /** Absent where no provider served it. */
  readonly provider: string | undefined
  /** Absent where the price does not go by tokens. */
  readonly tokens: { readonly input: number; readonly output: number } | undefined
  readonly cost: Nano
}

/** Follows a paid request from its plan to its last close. The caller of a flow gives one to learn what the request used. */
export interface Watch {
  /** The model that the plan tries first. */
  readonly planned: (model: string) => void
  /** A hold is open. */
  readonly opened: () => void
  readonly settled: (settled: Settled) => void
  /** The hold is open no more, however it ended. */
  readonly ended: () => void
}

/** What every paid request has, whatever it is for. */
export interface PaidRequest {
  readonly requestId: string
  /** The operation's name on the receipt, `chat.completions` for one. */
  readonly operation: string
  readonly principal: Principal
  /** What the caller named: an id, a chain or a preset, as written; of a list the first. */
  readonly model: string
  /** Where it was filled up from a preset. */
  readonly preset?: PresetUse | undefined
  readonly policy: RoutingPolicy
  /** Whether the answer is streamed; absent where no answer is. */
  readonly stream?: boolean
  readonly claim: Claim | undefined
  /** Its price is charged up front, and what was not delivered for it is given back at its end. */
  readonly charge?: true
  /** It was begun long ago: what its key is routed by now is not what it was planned by, and need not be. */
  readonly routedAsBegun?: true
  /** The request out of whose open hold its own is taken. */
  readonly carvedFrom?: string
  /** The most that is held for it, where that is less than it might be. */
  readonly holdAtMost?: Nano
  /** The raw `X-Svc-Sandbox` header. */
  readonly steering: string | undefined
  /** The trace it belongs to, where there is one. */
  readonly trace?: Trace | undefined
  /** Absent where nothing follows it. */
  readonly watch?: Watch | undefined
  /** When the request arrived, in `performance.now()` milliseconds. */
  readonly arrivedAt: number
}

/** A chat request of any dialect, decoded. */
export interface ChatRequest extends PaidRequest {
  /** The fallback chain it stands for. */
  readonly chain: ReadonlyArray<string>
  /** What it says of its models itself, where it lists any. */
  readonly listed?: Listed | undefined
  readonly auto?: AutoWish | undefined
  readonly conversation: Conversation
  /** Names of the optional parameters that are set. */
  readonly parameters: ReadonlyArray<string>
  readonly stream: boolean
  readonly budgetCents: number | undefined
  /** Why there can be no plan for it; what stands under its idempotency key may answer it all the same. */
  readonly unplannable?: Failure | undefined
}
