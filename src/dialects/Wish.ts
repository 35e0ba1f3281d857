/** What a request of any dialect asks for, before the router's chain is read from its model strings. */
import type { Conversation } from "../domain/Conversation.ts"
import type { RoutingPolicy } from "../domain/Plan.ts"
import type { AutoWish } from "../inference/Request.ts"

/** A request, decoded. */
export interface ChatWish {
  readonly model: string | undefined
  readonly models: ReadonlyArray<string> | undefined
  readonly conversation: Conversation
  readonly policy: RoutingPolicy
  readonly auto: AutoWish
  /** Names of the optional parameters that are set, in the words of the catalogue. */
  readonly parameters: ReadonlyArray<string>
  readonly stream: boolean
  readonly budgetCents: number | undefined
}

/** A decoded request body. */
export interface Decoded extends ChatWish {
  /** Members without effect: those nobody knows, and those that nothing is done with. */
  readonly ignored: ReadonlyArray<string>
}
