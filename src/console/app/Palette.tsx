/** Finds a page, a model, a key or a pasted request id, by the keyboard alone. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { type KeyboardEvent, useEffect, useRef, useState } from "react"
import { keysQuery, modelsQuery } from "../data/Queries.ts"
import { Icon, type IconName } from "../parts/Icons.tsx"
import { railGroups } from "./Pages.ts"
import { setTheme } from "./Theme.ts"

interface Found {
  readonly name: string
  readonly kind: string
  readonly icon: IconName
  readonly go: () => void
}

const MOST = 12

const useFound = (words: string): ReadonlyArray<Found> => {
  const navigate = useNavigate()
  const { data: models = [] } = useQuery(modelsQuery)
  const { data: keys = [] } = useQuery(keysQuery)
  const wanted = words.trim().toLowerCase()
  const fits = (name: string) => name.toLowerCase().includes(wanted)
  const to = (path: string) => () => void navigate({ to: path })
  if (/^req_[0-9a-z]{26}$/.test(wanted)) {
    const id = `req_${words.trim().slice("req_".length).toUpperCase()}`
    return [{ name: id, kind: "Receipt", icon: "requests", go: to(`/requests/${id}`) }]
  }
  const pages = railGroups.flat().map(({ icon, name, to: path }): Found => ({ name, kind: "Page", icon, go: to(path) }))
  const themes = (["light", "dark", "system"] as const).map((theme): Found => ({
    name: `Theme: ${theme}`,
    kind: "Theme",
    icon: "sun",
    go: () => setTheme(theme)
  }))
  const docs: Found = { name: "Documentation", kind: "Docs", icon: "docs", go: () => location.assign("/docs") }
  const reference: Found = { ...docs, name: "API reference", go: () => location.assign("/docs/api") }
  const rest =
    wanted === ""
      ? []
      : [
          ...models.map(({ id }): Found => ({ name: id, kind: "Model", icon: "models", go: to(`/models/${id}`) })),
          ...keys.map(({ name }): Found => ({ name, kind: "Key", icon: "keys", go: to("/keys") }))
        ]
  return [...pages, docs, reference, ...rest, ...themes].filter(({ name }) => fits(name)).slice(0, MOST)
}

export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const ref = useRef<HTMLDialogElement>(null)
  const [words, setWords] = useState("")
  const [chosen, setChosen] = useState(0)
  const found = useFound(words)
  useEffect(() => {
    ref.current?.showModal()
  }, [])
  const run = (one: Found | undefined) => {
    if (one === undefined) return
    onClose()
    one.go()
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") run(found[chosen])
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
    if (by === 0 || found.length === 0) return
    event.preventDefault()
    setChosen((chosen + by + found.length) % found.length)
  }
  return (
    <dialog
      ref={ref}
      className="dialog palette"
      aria-label="Search"
      onCancel={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <input
        className="input"
        role="combobox"
        aria-label="Search pages, models and keys, or paste a request id"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length === 0 ? undefined : `found-${chosen}`}
        placeholder="Search pages, models and keys, or paste a request id"
        value={words}
        onKeyDown={press}
        onChange={(event) => {
          setWords(event.target.value)
          setChosen(0)
        }}
      />
      <ul id="found" role="listbox" aria-label="Found">
        {found.map((one, at) => (
          <li
            key={`${one.kind} ${one.name}`}
            id={`found-${at}`}
            role="option"
            aria-selected={at === chosen}
            onPointerMove={() => setChosen(at)}
            onClick={() => run(one)}
          >
            <Icon name={one.icon} />
            <span className="clip">{one.name}</span>
            <span className="kind">{one.kind}</span>
          </li>
        ))}
        {found.length === 0 ? (
          <li role="option" aria-selected="false">
            Nothing has this name.
          </li>
        ) : null}
      </ul>
    </dialog>
  )
}
