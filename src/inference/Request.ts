import type { Principal } from "../../schemas/Access.ts"
import type { Conversation } from "../domain/Conversation.ts"
import type { Failure } from "../domain/Failure.ts"
import type { Nano } from "../domain/Money.ts"
import type { RoutingPolicy } from "../domain/Plan.ts"
import type { Claim } from "../ledger/Operation.ts"
import type { Trace } from "../platform/telemetry/Tracing.ts"
import type { ModelFields } from "../domain/Chain.ts"
import type { PresetUse } from "../domain/Answer.ts"
import type { AutoRequestOptions } from "../domain/Auto.ts"

/** What a closed hold reports about its work. */
export interface SettledWork {
  readonly model: string
  /** Undefined when no provider served it. */
  readonly provider: string | undefined
  /** Undefined when the price does not depend on tokens. */
  readonly tokens: { readonly input: number; readonly output: number } | undefined
  readonly cost: Nano
}

/** Follows a paid request from its plan to its last close. The caller of a flow provides one to learn what the request used. */
export interface RequestObserver {
  /** Receives the first model of the plan. */
  readonly planned: (model: string) => void
  /** Called when a hold is open. */
  readonly opened: () => void
  readonly settled: (settled: SettledWork) => void
  /** Called when the hold has ended, in any way. */
  readonly ended: () => void
}

/** The fields of every paid request, whatever its kind. */
export interface PaidRequest {
  readonly requestId: string
  /** The operation's name on the receipt, such as `chat.completions`. */
  readonly operation: string
  readonly principal: Principal
  /** The model that the client named: an id, a chain or a preset, as written; the first one of a list. */
  readonly model: string
  /** The preset that filled it in, if any. */
  readonly preset?: PresetUse | undefined
  readonly policy: RoutingPolicy
  /** Whether the answer is streamed. Absent for operations that never stream. */
  readonly stream?: boolean
  readonly claim: Claim | undefined
  /** Its price is charged up front, and undelivered parts are refunded at its end. */
  readonly charge?: true
  /** It was started long ago, so its key's current routing may differ from the one with which it was planned. */
  readonly routedAsBegun?: true
  /** The request with the open hold that its own is carved out of. */
  readonly carvedFrom?: string
  /** An upper limit of its hold, if that is lower than its maximum cost. */
  readonly holdAtMost?: Nano
  /** The most that the caller lets it cost, where it is work other than chat: providers that could cost more are left out. */
  readonly maxCost?: Nano | undefined
  /** The raw `X-Svc-Sandbox` header. */
  readonly steering: string | undefined
  /** Its trace, if there is one. */
  readonly trace?: Trace | undefined
  /** Absent: no observer. */
  readonly watch?: RequestObserver | undefined
  /** When the request arrived, in `performance.now()` milliseconds. */
  readonly arrivedAt: number
}

/** The properties of a paid request that do not come from its body. */
export type RequestContext = Pick<
  PaidRequest,
  "requestId" | "operation" | "principal" | "claim" | "steering" | "trace" | "watch" | "arrivedAt" | "routedAsBegun"
>

/** A decoded chat request of any dialect. */
export interface ChatRequest extends PaidRequest {
  /** The fallback chain that its model name stands for. */
  readonly chain: ReadonlyArray<string>
  /** The models that the request itself lists, if any. */
  readonly sent?: ModelFields | undefined
  readonly auto?: AutoRequestOptions | undefined
  readonly conversation: Conversation
  /** Names of the optional parameters that are set. */
  readonly parameters: ReadonlyArray<string>
  readonly stream: boolean
  readonly budgetCents: number | undefined
  /** Why it cannot be planned. An answer under its idempotency key may still exist. */
  readonly unplannable?: Failure | undefined
}
