import { Effect } from "effect"
import { type Provider, ProviderError } from "./Provider.ts"

/** The chat of a provider that has none. The catalogue has no text model there, so nobody is sent to it. */
export const noChat = (provider: string): Pick<Provider, "chat" | "chatStream"> => {
  const refused = Effect.fail(
    new ProviderError({ provider, fault: { _tag: "Refused", status: 404, detail: "there is no chat here" } })
  )
  return { chat: () => refused, chatStream: () => refused }
}
