/** Ids, code and secrets, with buttons that copy them. */
import { type KeyboardEvent, useEffect, useId, useState } from "react"
import type { Snippet } from "../data/Snippets.ts"
import { Highlighted } from "./Highlighted.tsx"
import { Icon } from "./Icons.tsx"
import { toast } from "./Toasts.tsx"

const SHOWN_MS = 1_500

interface CopyButtonProps {
  readonly label: string
  readonly text: string
  readonly tiny?: boolean
  /** The text on a button of the usual size. */
  readonly words?: string
}

/** A button that copies a text, and says whether it did. */
export const CopyButton = ({ label, text, words, tiny = words === undefined }: CopyButtonProps) => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    try {
      // Pages without https have no clipboard.
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      toast("The browser did not allow the copy. Select the text and copy it by hand.")
    }
  }
  return (
    <button
      type="button"
      className={tiny ? "button plain tiny" : "button"}
      aria-label={tiny ? (copied ? "Copied" : label) : undefined}
      title={label}
      onClick={(event) => {
        event.stopPropagation()
        void copy()
      }}
    >
      <Icon name={copied ? "check" : "copy"} />
      {tiny ? null : copied ? "Copied" : (words ?? "Copy")}
    </button>
  )
}

/** An id with a button that copies it. */
export const Id = ({ value }: { readonly value: string }) => (
  <span className="id">
    <code className="clip" title={value}>
      {value}
    </code>
    <CopyButton label="Copy the id" text={value} />
  </span>
)

/** Code in several languages, with a tab for each. */
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
        <Highlighted code={snippet.code} language={snippet.language} />
      </pre>
    </div>
  )
}

/** A secret that the gateway shows only once. */
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
