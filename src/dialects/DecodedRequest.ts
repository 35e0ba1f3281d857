/** A decoded request of any dialect, before its model names are resolved to the router's chain. */
import type { Conversation } from "../domain/Conversation.ts"
import type { RoutingPolicy } from "../domain/Plan.ts"
import type { AutoRequestOptions } from "../domain/Auto.ts"

/** A request, decoded. */
export interface DecodedChatRequest {
  readonly model: string | undefined
  readonly models: ReadonlyArray<string> | undefined
  readonly conversation: Conversation
  readonly policy: RoutingPolicy
  readonly auto: AutoRequestOptions
  /** The optional parameters that are set, by the catalogue's names. */
  readonly parameters: ReadonlyArray<string>
  readonly stream: boolean
  readonly budgetCents: number | undefined
}

/** A decoded request body. */
export interface DecodedRequest extends DecodedChatRequest {
  /** Fields without effect: unknown ones, and known ones that the service does not use. */
  readonly ignored: ReadonlyArray<string>
}
