import { type ReactNode, useEffect, useRef } from "react"
import type { ModelDetail } from "../../../client/Contract.ts"
import { Icon } from "../../parts/Icons.tsx"
import { Empty } from "../../parts/States.tsx"
import { openCalls, type Turn } from "./Messages.ts"
import { liveWords, ModelPicker, priceWords } from "./ModelPicker.tsx"
import { type Conversation, useConversation } from "./Conversation.ts"
import { ToolResult, TurnView } from "./TurnView.tsx"

interface ConversationColumnProps {
  readonly conversation: Conversation
  readonly model: string
  readonly models: ReadonlyArray<ModelDetail>
  readonly presets: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly onModel: (model: string) => void
  readonly onRemove: (() => void) | undefined
  readonly onResults: (results: ReadonlyArray<Turn>) => void
  /** The first element of the column, such as the choice of a key. */
  readonly begin: ReactNode
}

/** A conversation with one model. */
export const ConversationColumn = (props: ConversationColumnProps) => {
  const { begin, conversation, model, models, onModel, onRemove, onResults, presets } = props
  const { running, turns } = useConversation(conversation)
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Some browsers return a promise, which is not a clean-up function.
    if (turns.length > 0) void end.current?.scrollIntoView({ block: "nearest" })
  }, [turns])
  const found = models.find(({ id }) => id === model)
  const open = running ? [] : openCalls(turns)
  const addResult = (callId: string, content: string) => {
    const turn: Turn = { role: "tool", callId, content }
    if (open.length > 1) conversation.add(turn)
    else onResults([turn])
  }
  return (
    <section className="column" aria-label={`Conversation with ${found?.name ?? model}`}>
      <header>
        <ModelPicker label="Model" model={model} models={models} others={presets} onModel={onModel} />
        {onRemove === undefined ? null : (
          <button type="button" className="button plain square" aria-label={`Remove ${model}`} onClick={onRemove}>
            <Icon name="close" />
          </button>
        )}
        <span className="small muted about">
          {found === undefined
            ? "A preset, or a model that is not in the list."
            : [priceWords(found), liveWords(found)].filter((words) => words !== undefined).join(" · ")}
        </span>
      </header>
      <div className="talk" aria-live="polite" aria-busy={running}>
        {begin}
        {turns.length > 0 || begin !== null ? null : (
          <Empty title="Talk to any model.">
            <p>Each answer shows its cost and links to its receipt, as your programs' requests do.</p>
          </Empty>
        )}
        {turns.map((turn, at) => (
          <TurnView key={at} turn={turn} />
        ))}
        {open.map((call) => (
          <ToolResult key={call.id} call={call} onResult={(result) => addResult(call.id, result)} />
        ))}
        <div ref={end} />
      </div>
    </section>
  )
}
