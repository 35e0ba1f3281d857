import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { count, duration } from "../../format/Figures.ts"
import { Money } from "../../parts/Figures.tsx"
import { Highlighted } from "../../parts/Highlighted.tsx"
import { Markdown } from "../../parts/Markdown.tsx"
import type { ToolCall, Turn } from "./Messages.ts"

const TurnFigures = ({ turn }: { readonly turn: Turn }) => (
  <span className="after">
    {turn.costUsd === undefined ? null : <Money usd={turn.costUsd} />}
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

const pretty = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    // A call that is still streaming is not JSON yet.
    return json
  }
}

const Call = ({ of }: { readonly of: ToolCall }) => (
  <div className="code call">
    <header>
      <span className="small">
        Calls <code>{of.name}</code>
      </span>
    </header>
    <pre tabIndex={0}>
      <Highlighted code={pretty(of.arguments)} language="json" />
    </pre>
  </div>
)

const speakers = { user: "You", tool: "Result of the tool", assistant: "Assistant" } as const

/** A message, an answer or the result of a tool. An answer has its cost and its receipt. */
export const TurnView = ({ turn }: { readonly turn: Turn }) => (
  <article className={`turn ${turn.role}`}>
    <span className="by clip">{turn.role === "assistant" ? turn.model : speakers[turn.role]}</span>
    {turn.images === undefined ? null : (
      <div className="thumbs">
        {turn.images.map((image, at) => (
          <img key={at} src={image} alt={`Image ${at + 1} of the message`} />
        ))}
      </div>
    )}
    {turn.reasoning === undefined || turn.reasoning === "" ? null : (
      <details>
        <summary className="small muted">Reasoning</summary>
        <div className="prose muted">{turn.reasoning}</div>
      </details>
    )}
    {turn.role === "assistant" ? (
      <Markdown text={turn.content} />
    ) : turn.content === "" ? null : (
      <div className="prose">{turn.content}</div>
    )}
    {turn.calls?.map((call) => (
      <Call key={call.id} of={call} />
    ))}
    {turn.error === undefined ? null : (
      <div className="banner bad" role="alert">
        <span>{turn.error}</span>
      </div>
    )}
    {turn.role === "assistant" ? <TurnFigures turn={turn} /> : null}
  </article>
)

interface ResultProps {
  readonly call: ToolCall
  readonly onResult: (result: string) => void
}

/** Asks for the result of a tool call, in place of the program that would run the tool. */
export const ToolResult = ({ call, onResult }: ResultProps) => {
  const [text, setText] = useState("")
  return (
    <form
      className="form result"
      onSubmit={(event) => {
        event.preventDefault()
        onResult(text)
      }}
    >
      <label className="field">
        <span className="label">
          Result of <code>{call.name}</code>
        </span>
        <textarea
          className="input mono"
          rows={2}
          required
          placeholder={'{"answer": 42}'}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div>
        <button type="submit" className="button">
          Send result
        </button>
      </div>
    </form>
  )
}
