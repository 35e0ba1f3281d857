import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react"
import { Page } from "../../app/Page.tsx"
import { origin } from "../../data/Client.ts"
import { useHeldKey } from "../../data/Held.ts"
import { balanceQuery, modelsQuery } from "../../data/Queries.ts"
import { type Call, snippetsOf } from "../../data/Snippets.ts"
import { count, duration } from "../../format/Figures.ts"
import { Code } from "../../parts/Copy.tsx"
import { Dialog } from "../../parts/Dialog.tsx"
import { Money } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Markdown } from "../../parts/Markdown.tsx"
import { Empty } from "../../parts/States.tsx"
import { messagesOf, type Parameters, type Turn, useConversation } from "./Conversation.ts"
import { Options } from "./Options.tsx"
import { PlaygroundKey } from "./PlaygroundKey.tsx"

const USUAL_MODEL = "gpt-4o-mini"

const After = ({ turn }: { readonly turn: Turn }) => (
  <span className="after">
    {turn.costUsd === undefined ? null : (
      <span>
        <Money usd={turn.costUsd} />
      </span>
    )}
    {turn.tokens === undefined ? null : <span className="number">{count(turn.tokens)} tokens</span>}
    {turn.firstTokenMs === undefined ? null : <span className="number">first token {duration(turn.firstTokenMs)}</span>}
    {turn.totalMs === undefined ? null : <span className="number">{duration(turn.totalMs)}</span>}
    {turn.requestId === undefined ? null : (
      <Link to="/requests/$id" params={{ id: turn.requestId }}>
        Receipt
      </Link>
    )}
  </span>
)

const TurnView = ({ turn }: { readonly turn: Turn }) => (
  <article className={`turn ${turn.role}`}>
    <span className="by">{turn.role === "user" ? "You" : turn.model}</span>
    {turn.reasoning === undefined || turn.reasoning === "" ? null : (
      <details>
        <summary className="small muted">Reasoning</summary>
        <div className="prose muted">{turn.reasoning}</div>
      </details>
    )}
    {turn.role === "user" ? <div className="prose">{turn.content}</div> : <Markdown text={turn.content} />}
    {turn.error === undefined ? null : (
      <div className="banner bad" role="alert">
        <span>{turn.error}</span>
      </div>
    )}
    {turn.role === "assistant" ? <After turn={turn} /> : null}
  </article>
)

interface ComposeProps {
  readonly ready: boolean
  readonly running: boolean
  readonly onSend: (text: string) => void
  readonly onStop: () => void
}

const Compose = ({ onSend, onStop, ready, running }: ComposeProps) => {
  const [text, setText] = useState("")
  const can = ready && !running && text.trim() !== ""
  const send = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault()
    if (!can) return
    onSend(text)
    setText("")
  }
  return (
    <form className="compose" onSubmit={send}>
      <textarea
        className="input"
        data-search=""
        aria-label="Message"
        placeholder="Ask something"
        rows={3}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) send(event)
        }}
      />
      <div className="send">
        <span className="small muted">
          {ready ? "Enter sends, Shift and Enter begin a line" : "First choose a key above"}
        </span>
        {running ? (
          <button type="button" className="button" onClick={onStop}>
            <Icon name="stop" />
            Stop
          </button>
        ) : (
          <button type="submit" className="button primary" disabled={!can}>
            <Icon name="send" />
            Send
          </button>
        )}
      </div>
    </form>
  )
}

interface CodeDialogProps {
  readonly call: { readonly model: string; readonly messages: Call["messages"]; readonly parameters: Parameters }
  readonly onClose: () => void
}

const CodeDialog = ({ call: { messages, model, parameters }, onClose }: CodeDialogProps) => (
  <Dialog title="This request as code" wide onClose={onClose}>
    <Code
      snippets={snippetsOf({
        ...{ origin, key: "$KEY", model, parameters: { ...parameters } },
        messages: messages.length === 0 ? [{ role: "user", content: "Hello!" }] : messages
      })}
    />
    <div className="actions end">
      <button type="button" className="button" onClick={onClose}>
        Close
      </button>
    </div>
  </Dialog>
)

export const PlaygroundPage = () => {
  const { model = USUAL_MODEL } = useSearch({ from: "/shell/playground" })
  const navigate = useNavigate({ from: "/playground" })
  const client = useQueryClient()
  const held = useHeldKey()
  const models = useQuery(modelsQuery)
  const [instructions, setInstructions] = useState("")
  const [parameters, setParameters] = useState<Parameters>({})
  const [showsCode, setShowsCode] = useState(false)
  const end = useRef<HTMLDivElement>(null)
  const conversation = useConversation(() => void client.invalidateQueries(balanceQuery))
  const { turns } = conversation
  useEffect(() => {
    // Some browsers return a promise, which is no clean-up.
    void end.current?.scrollIntoView({ block: "nearest" })
  }, [turns])
  // What was sent last: everything up to the newest question.
  const messages = messagesOf(instructions, turns.slice(0, turns.findLastIndex(({ role }) => role === "user") + 1))
  return (
    <Page
      title="Playground"
      tools={
        <>
          <button type="button" className="button" disabled={turns.length === 0} onClick={conversation.clear}>
            Clear
          </button>
          <button type="button" className="button" onClick={() => setShowsCode(true)}>
            View code
          </button>
        </>
      }
    >
      <div className="grid side">
        <section className="card chat" aria-label="Conversation">
          <div className="talk" aria-live="polite" aria-busy={conversation.running}>
            {held === undefined ? <PlaygroundKey /> : null}
            {turns.length > 0 ? null : (
              <Empty title="Talk to any model.">
                <p>Each answer shows its cost and links to its receipt, as your programs' requests do.</p>
              </Empty>
            )}
            {turns.map((turn, at) => (
              <TurnView key={at} turn={turn} />
            ))}
            <div ref={end} />
          </div>
          <Compose
            ready={held !== undefined}
            running={conversation.running}
            onStop={conversation.stop}
            onSend={(text) => {
              if (held !== undefined)
                void conversation.send({ key: held.secret, model, instructions, parameters }, text)
            }}
          />
        </section>
        <Options
          model={model}
          models={models.data ?? []}
          onModel={(model) => void navigate({ search: { model }, replace: true })}
          instructions={instructions}
          onInstructions={setInstructions}
          parameters={parameters}
          onParameters={setParameters}
        />
      </div>
      {showsCode ? <CodeDialog call={{ model, messages, parameters }} onClose={() => setShowsCode(false)} /> : null}
    </Page>
  )
}
