import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useRef, useState } from "react"
import type { ModelDetail } from "../../../client/Contract.ts"
import { useKeyInMemory } from "../../data/KeyInMemory.ts"
import { balanceQuery, presetsQuery } from "../../data/Queries.ts"
import { Icon } from "../../parts/Icons.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { ConversationColumn } from "./ConversationColumn.tsx"
import { Compose } from "./Compose.tsx"
import { Estimate } from "./Estimate.tsx"
import { messagesOf, sentTurns, type Turn } from "./Messages.ts"
import { noOptions, Options, parametersOf } from "./Options.tsx"
import { PlaygroundKey } from "./PlaygroundKey.tsx"
import { RequestCode } from "./RequestCode.tsx"
import { makeConversation, useConversation } from "./Conversation.ts"

const MAX_COLUMNS = 3

interface ChatTabProps {
  readonly models: ReadonlyArray<ModelDetail>
  /** The models of the columns, side by side. */
  readonly chosen: ReadonlyArray<string>
  readonly onChosen: (models: ReadonlyArray<string>) => void
  readonly showsCode: boolean
  readonly onCode: () => void
}

/** One conversation for each possible column. They stay while the page does, whichever tab is shown. */
const store = { conversations: [makeConversation(), makeConversation(), makeConversation()] as const }

const useConversations = ({ chosen, onChosen }: Pick<ChatTabProps, "chosen" | "onChosen">) => {
  const [conversations, setConversations] = useState(store.conversations)
  const [one, two, three] = conversations
  const states = [useConversation(one), useConversation(two), useConversation(three)]
  const move = (from: number, to: number) => {
    const [one, two, three] = store.conversations.toSpliced(from, 1).toSpliced(to, 0, store.conversations[from]!)
    store.conversations = [one!, two!, three!]
    setConversations(store.conversations)
  }
  const latest = useRef(chosen)
  latest.current = chosen
  /** Removes a column with its conversation. The columns after it move up. The toast brings it back if there is still room for it. */
  const remove = (at: number) => {
    const [model, removed] = [chosen[at]!, conversations[at]!]
    const { turns } = removed.get()
    removed.clear()
    move(at, MAX_COLUMNS - 1)
    onChosen(chosen.toSpliced(at, 1))
    toast(`Removed ${model} from the comparison.`, () => {
      const shown = latest.current
      const from = store.conversations.indexOf(removed)
      if (from < shown.length) return
      move(from, Math.min(at, shown.length))
      removed.restore(turns)
      onChosen(shown.toSpliced(at, 0, model))
    })
  }
  /** Clears all conversations. The toast can bring them back. */
  const clear = () => {
    const former = conversations.map((conversation) => conversation.get().turns)
    for (const conversation of conversations) conversation.clear()
    toast("Cleared the conversation.", () => former.forEach((turns, at) => conversations[at]!.restore(turns)))
  }
  return { clear, conversations, states, remove }
}

interface ActionsProps {
  readonly compares: boolean
  readonly clears: boolean
  readonly onCompare: () => void
  readonly onClear: () => void
}

const Actions = ({ clears, compares, onClear, onCompare }: ActionsProps) => (
  <div className="actions">
    <button type="button" className="button" disabled={!compares} onClick={onCompare}>
      <Icon name="plus" />
      Compare with another model
    </button>
    <button type="button" className="button" disabled={!clears} onClick={onClear}>
      Clear
    </button>
  </div>
)

/** Sends the same messages to up to three models, side by side. */
export const ChatTab = ({ chosen, models, onChosen, onCode, showsCode }: ChatTabProps) => {
  const client = useQueryClient()
  const pageKey = useKeyInMemory()
  const presets = useQuery(presetsQuery).data?.map(({ name, slug }) => ({ id: `@${slug}`, name })) ?? []
  const [options, setOptions] = useState(noOptions)
  const [text, setText] = useState("")
  const { clear, conversations, remove, states } = useConversations({ chosen, onChosen })
  const texts = models.filter(({ modality, servable }) => modality === "text" && servable)
  const own = states.slice(0, chosen.length)
  const parameters = parametersOf(options)
  const { instructions } = options
  const send = (at: number, turns: ReadonlyArray<Turn>) => {
    if (pageKey === undefined) return
    const request = { key: pageKey.secret, model: chosen[at]!, instructions, parameters }
    void conversations[at]!.send(request, turns, () => void client.invalidateQueries(balanceQuery))
  }
  const draft = (turns: ReadonlyArray<Turn>) => messagesOf(instructions, [...turns, { role: "user", content: text }])
  const bodies =
    text.trim() === "" ? [] : chosen.map((model, at) => ({ model, messages: draft(own[at]!.turns), ...parameters }))
  const reasons = models.some(({ capabilities, id }) => capabilities.includes("reasoning") && chosen.includes(id))
  const messages = messagesOf(instructions, sentTurns(own[0]!.turns))
  return (
    <div className="grid side">
      <section className="card chat" aria-label="Conversation">
        <div className={`columns of-${chosen.length}`}>
          {chosen.map((model, at) => (
            <ConversationColumn
              key={at}
              conversation={conversations[at]!}
              model={model}
              models={texts}
              presets={presets}
              onModel={(next) => onChosen(chosen.with(at, next))}
              onResults={(results) => send(at, results)}
              onRemove={chosen.length === 1 ? undefined : () => remove(at)}
              begin={pageKey === undefined && at === 0 ? <PlaygroundKey /> : null}
            />
          ))}
        </div>
        <Compose
          ready={pageKey !== undefined}
          running={own.some((state) => state.running)}
          estimate={
            <Estimate
              apiKey={pageKey?.secret}
              bodies={bodies}
              otherwise={
                pageKey === undefined ? "First choose a key above." : "Enter sends. Shift+Enter starts a new line."
              }
            />
          }
          text={text}
          onText={setText}
          onSend={(turn) => chosen.forEach((_, at) => send(at, [turn]))}
          onStop={() => own.forEach((_, at) => conversations[at]!.stop())}
        />
      </section>
      <div className="grid">
        <Actions
          compares={chosen.length < MAX_COLUMNS}
          clears={own.some(({ turns }) => turns.length > 0)}
          onCompare={() => onChosen([...chosen, chosen.at(-1)!])}
          onClear={clear}
        />
        <Options options={options} reasons={reasons} onOptions={setOptions} />
      </div>
      {showsCode ? <RequestCode call={{ model: chosen[0]!, messages, parameters }} onClose={onCode} /> : null}
    </div>
  )
}
