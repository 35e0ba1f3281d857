/** Things to copy: ids, code and secrets that are shown once. */
import { type KeyboardEvent, useEffect, useId, useState } from "react"
import type { Snippet } from "../data/Snippets.ts"
import { Highlighted } from "./Highlighted.tsx"
import { Icon } from "./Icons.tsx"

const SHOWN_MS = 1_500

interface CopyButtonProps {
  readonly label: string
  readonly text: string
  readonly tiny?: boolean
  /** What a button of usual size says. */
  readonly words?: string
}

export const CopyButton = ({ label, text, words, tiny = words === undefined }: CopyButtonProps) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <button
      type="button"
      className={tiny ? "button plain tiny" : "button"}
      aria-label={tiny ? (copied ? "Copied" : label) : undefined}
      title={label}
      onClick={(event) => {
        event.stopPropagation()
        navigator.clipboard.writeText(text).then(
          () => setCopied(true),
          () => setCopied(false)
        )
      }}
    >
      <Icon name={copied ? "check" : "copy"} />
      {tiny ? null : copied ? "Copied" : (words ?? "Copy")}
    </button>
  )
}

export const Id = ({ value }: { readonly value: string }) => (
  <span className="id">
    <code className="clip" title={value}>
      {value}
    </code>
    <CopyButton label="Copy the id" text={value} />
  </span>
)

/** The language of a snippet: those that are not shells or Python are programs in JavaScript. */
const languageOf = (name: string): string =>
  ["curl", "Upload", "Run"].includes(name) ? "bash" : name === "Python" ? "python" : "javascript"

/** Code in one or several languages. */
export const Code = ({ snippets }: { readonly snippets: ReadonlyArray<Snippet> }) => {
  const [chosen, setChosen] = useState(0)
  const id = useId()
  const snippet = snippets[chosen] ?? snippets[0]!
  const move = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
    if (by === 0) return
    const next = (chosen + by + snippets.length) % snippets.length
    setChosen(next)
    document.getElementById(`${id}-${next}`)?.focus()
  }
  return (
    <div className="code">
      <header>
        <div role="tablist" aria-label="Language" onKeyDown={move}>
          {snippets.map(({ name }, at) => (
            <button
              key={name}
              id={`${id}-${at}`}
              type="button"
              role="tab"
              aria-selected={at === chosen}
              tabIndex={at === chosen ? 0 : -1}
              onClick={() => setChosen(at)}
            >
              {name}
            </button>
          ))}
        </div>
        <CopyButton label={`Copy the ${snippet.name} code`} text={snippet.code} />
      </header>
      <pre role="tabpanel" aria-labelledby={`${id}-${chosen}`} tabIndex={0}>
        <Highlighted code={snippet.code} language={languageOf(snippet.name)} />
      </pre>
    </div>
  )
}

/** A secret that the gateway shows this once. */
export const Secret = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <div className="field">
    <span className="label">{label}</span>
    <div className="secret">
      <code data-secret="">{value}</code>
      <CopyButton label={`Copy the ${label.toLowerCase()}`} text={value} tiny={false} />
    </div>
    <span className="hint">The gateway shows this value only now. Store it in a password manager.</span>
  </div>
)
