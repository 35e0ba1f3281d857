/** An assistant's reasoning on its way back to the model. */
import type {
  AssistantMessage,
  ReasoningData,
  ReasoningPart,
  ReasoningPlace,
  TextPart,
  ToolCall
} from "./Conversation.ts"
import type { Candidate } from "./Plan.ts"

/** Opens what a caller sent back as sealed reasoning; undefined where this service did not seal it for the same account. */
export type OpenReasoning = (seal: string) => ReasoningPart | undefined

/** Opens nothing. */
export const opensNothing: OpenReasoning = () => undefined

/** A block of reasoning that a candidate made itself. */
export interface OwnReasoning {
  readonly text: string
  readonly data: ReasoningData
  readonly place: ReasoningPlace | undefined
}

/** The blocks of a message that this candidate made. Providers refuse each other's data, and that of their other models. */
export const ownReasoning = (
  { reasoning = [] }: Pick<AssistantMessage, "reasoning">,
  { offer }: Candidate
): ReadonlyArray<OwnReasoning> =>
  reasoning.flatMap(({ origin, place, text }) =>
    origin?.data !== undefined && origin.provider === offer.provider && origin.model === offer.upstreamId
      ? [{ text, data: origin.data, place }]
      : []
  )

/** A piece of an assistant's message. */
export type Piece =
  | { readonly type: "reasoning"; readonly reasoning: OwnReasoning }
  | { readonly type: "text"; readonly part: TextPart }
  | { readonly type: "call"; readonly call: ToolCall }

/** Splits texts where a block of reasoning stands between two of their characters. */
const textPieces = (content: ReadonlyArray<TextPart>, blocks: ReadonlyArray<OwnReasoning>): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  const waiting = [...blocks]
  let before = 0
  for (const part of content) {
    const { cacheBreakpoint: _, ...plain } = part
    let rest: TextPart = part
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const cut = (next.place?.text ?? 0) - before
      if (cut >= rest.text.length && rest.text !== "") break
      if (cut > 0) {
        pieces.push({ type: "text", part: { ...plain, text: rest.text.slice(0, cut) } })
        rest = { ...rest, text: rest.text.slice(cut) }
        before += cut
      }
      pieces.push({ type: "reasoning", reasoning: next })
      waiting.shift()
    }
    pieces.push({ type: "text", part: rest })
    before += rest.text.length
  }
  return [...pieces, ...waiting.map((reasoning) => ({ type: "reasoning", reasoning }) as const)]
}

/** A message as it was said: its texts, then its calls, and each block of reasoning in its place among them. */
export const piecesOf = (
  { content, toolCalls }: AssistantMessage,
  blocks: ReadonlyArray<OwnReasoning>
): ReadonlyArray<Piece> => {
  const callsBefore = ({ place }: OwnReasoning) => Math.min(place?.calls ?? 0, toolCalls.length)
  const at = (calls: number) => blocks.filter((block) => callsBefore(block) === calls)
  const reasoned = (list: ReadonlyArray<OwnReasoning>) =>
    list.map((reasoning) => ({ type: "reasoning", reasoning }) as const)
  return [
    ...textPieces(content, at(0)),
    ...toolCalls.flatMap((call, index) => [{ type: "call", call } as const, ...reasoned(at(index + 1))])
  ]
}
