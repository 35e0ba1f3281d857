/** Finds one of many things by a text. The keyboard alone is enough. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react"
import { useModal } from "./Dialog.tsx"

export interface FinderEntry {
  readonly id: string
  readonly shown: ReactNode
  /** The note at the right of the entry. */
  readonly kind: ReactNode
  readonly choose: () => void
}

interface FinderProps {
  readonly label: string
  readonly none: string
  readonly find: (words: string) => ReadonlyArray<FinderEntry>
  readonly onClose: () => void
}

/** A dialog with a search field and the entries that match. Enter and a click choose one and close the dialog. */
export const Finder = ({ find, label, none, onClose }: FinderProps) => {
  const ref = useRef<HTMLDialogElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const [words, setWords] = useState("")
  const [chosen, setChosen] = useState(0)
  const found = find(words)
  useModal(ref)
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: "nearest" })
  }, [chosen])
  const run = (one: FinderEntry | undefined) => {
    if (one === undefined) return
    onClose()
    one.choose()
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault()
      run(found[chosen])
    }
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (by === 0 || found.length === 0) return
    event.preventDefault()
    setChosen((chosen + by + found.length) % found.length)
  }
  return (
    <dialog
      ref={ref}
      className="dialog palette"
      aria-label={label}
      onCancel={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <input
        className="input"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length === 0 ? undefined : `found-${chosen}`}
        placeholder={label}
        value={words}
        onKeyDown={press}
        onChange={(event) => {
          setWords(event.target.value)
          setChosen(0)
        }}
      />
      <ul id="found" role="listbox" aria-label="Found" ref={list}>
        {found.map((one, at) => (
          <li
            key={one.id}
            id={`found-${at}`}
            role="option"
            aria-selected={at === chosen}
            onPointerMove={() => setChosen(at)}
            onClick={() => run(one)}
          >
            {one.shown}
            <span className="kind">{one.kind}</span>
          </li>
        ))}
        {found.length === 0 ? (
          <li role="option" aria-selected="false">
            {none}
          </li>
        ) : null}
      </ul>
    </dialog>
  )
}
