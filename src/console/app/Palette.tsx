/** Finds a page, a model, a key, a project or a pasted request id. */
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { requestIdIn } from "../data/Addresses.ts"
import { keysQuery, modelsQuery, projectsQuery } from "../data/Queries.ts"
import { Finder, type FinderEntry } from "../parts/Finder.tsx"
import { Icon, type IconName } from "../parts/Icons.tsx"
import { railGroups } from "./Pages.ts"
import { setTheme } from "./Theme.ts"

interface Target {
  readonly name: string
  readonly kind: string
  readonly icon: IconName
  readonly choose: () => void
}

const MAX_SHOWN = 12

/** The pages of the documentation in the palette. */
const docs = [
  { name: "Documentation", path: "/docs" },
  { name: "Quick start", path: "/docs/guide/quick-start" },
  { name: "API reference", path: "/docs/api" },
  { name: "Errors", path: "/docs/guide/errors" },
  { name: "Money and receipts", path: "/docs/guide/money-and-receipts" },
  { name: "Keys, projects and budgets", path: "/docs/guide/keys-projects-budgets" }
]

const useTargets = (): ((words: string) => ReadonlyArray<Target>) => {
  const navigate = useNavigate()
  const { data: models = [] } = useQuery(modelsQuery)
  const { data: keys = [] } = useQuery(keysQuery)
  const { data: projects = [] } = useQuery(projectsQuery)
  const to = (path: string) => () => void navigate({ to: path })
  const pages = railGroups
    .flat()
    .map(({ icon, name, to: path }): Target => ({ name, kind: "Page", icon, choose: to(path) }))
  const themes = (["light", "dark", "system"] as const).map((theme): Target => ({
    name: `Theme: ${theme}`,
    kind: "Theme",
    icon: "sun",
    choose: () => setTheme(theme)
  }))
  const manuals = docs.map(({ name, path }): Target => ({
    name,
    kind: "Docs",
    icon: "docs",
    choose: () => location.assign(path)
  }))
  const things = [
    ...models.map(({ id }): Target => ({ name: id, kind: "Model", icon: "models", choose: to(`/models/${id}`) })),
    ...keys.map(({ name }): Target => ({ name, kind: "Key", icon: "keys", choose: to("/keys") })),
    ...projects.map(({ id, name }): Target => ({
      name,
      kind: "Project",
      icon: "projects",
      choose: () => void navigate({ to: "/keys", search: { project: id } })
    }))
  ]
  return (words) => {
    const wanted = words.trim().toLowerCase()
    const id = requestIdIn(words)
    if (id !== undefined) return [{ name: id, kind: "Receipt", icon: "requests", choose: to(`/requests/${id}`) }]
    return [...pages, ...manuals, ...(wanted === "" ? [] : things), ...themes]
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .slice(0, MAX_SHOWN)
  }
}

const entryOf = ({ choose, icon, kind, name }: Target): FinderEntry => ({
  id: `${kind} ${name}`,
  kind,
  choose,
  shown: (
    <>
      <Icon name={icon} />
      <span className="clip">{name}</span>
    </>
  )
})

/** The dialog that finds pages and things by their name. */
export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const targets = useTargets()
  return (
    <Finder
      label="Search pages, models, keys and projects, or paste a request id"
      none="Nothing matches. Try another name."
      find={(words) => targets(words).map(entryOf)}
      onClose={onClose}
    />
  )
}
