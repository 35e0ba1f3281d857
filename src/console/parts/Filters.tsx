/** Filters of requests as removable chips. The URL keeps them. */
import { useQuery } from "@tanstack/react-query"
import { type ReactNode, useId, useState } from "react"
import { keysQuery, modelsQuery, projectsQuery } from "../data/Queries.ts"
import { type Grouping, groupings, type UsageFilters } from "../data/UsageSeries.ts"
import { operationName, operations, sentence, statusName } from "../format/Words.ts"
import { Icon } from "./Icons.tsx"

interface Option {
  readonly value: string
  readonly name: string
}

const statuses = ["open", "succeeded", "failed", "cancelled"].map((value) => ({
  value,
  name: statusName(value)
}))

/** The known values of a filter, and whether the user may type others. */
const useOptions = (of: Grouping | undefined): { readonly options: ReadonlyArray<Option>; readonly free: boolean } => {
  const models = useQuery({ ...modelsQuery, enabled: of === "model" || of === "provider" })
  const keys = useQuery({ ...keysQuery, enabled: of === "key" })
  const projects = useQuery({ ...projectsQuery, enabled: of === "project" })
  const named = (list: ReadonlyArray<{ readonly id: string; readonly name: string }> = []) =>
    list.map(({ id, name }) => ({ value: id, name }))
  if (of === "key") return { options: named(keys.data), free: false }
  if (of === "project") return { options: named(projects.data), free: false }
  if (of === "status") return { options: statuses, free: false }
  if (of === "operation")
    return {
      options: operations.map((value) => ({ value, name: operationName(value) })),
      free: false
    }
  const ids =
    of === "model"
      ? (models.data ?? []).map(({ id }) => id)
      : [
          ...new Set((models.data ?? []).flatMap(({ providers }) => providers.map(({ provider }) => provider)))
        ].toSorted()
  return { options: ids.map((value) => ({ value, name: value })), free: true }
}

interface ChipProps {
  readonly name: string
  readonly value: string
  readonly onRemove: () => void
}

/** A filter with a button that removes it. */
export const FilterChip = ({ name, onRemove, value }: ChipProps) => (
  <span className="filter-chip">
    <span className="muted">{name}</span>
    <span className="clip" title={value}>
      {value}
    </span>
    <button type="button" aria-label={`Remove the filter ${name} ${value}`} onClick={onRemove}>
      <Icon name="close" />
    </button>
  </span>
)

/** Asks for the value of a new filter. Escape, and leaving an empty field, give it up. */
const NewFilter = ({ of, onDone }: { readonly of: Grouping; readonly onDone: (value: string | undefined) => void }) => {
  const { free, options } = useOptions(of)
  const [typed, setTyped] = useState("")
  const list = useId()
  if (!free) {
    return (
      <select
        className="select"
        autoFocus
        aria-label={sentence(of)}
        value=""
        onChange={({ target }) => onDone(target.value)}
        onKeyDown={({ key }) => key === "Escape" && onDone(undefined)}
        onBlur={() => onDone(undefined)}
      >
        <option value="">{sentence(of)}…</option>
        {options.map(({ name, value }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    )
  }
  const done = () => onDone(typed.trim() === "" ? undefined : typed.trim())
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        done()
      }}
    >
      <input
        className="input"
        autoFocus
        aria-label={sentence(of)}
        placeholder={`${sentence(of)}, then Enter`}
        list={list}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value)
          // A choice from the list does not submit the form.
          if (options.some(({ value }) => value === target.value)) onDone(target.value)
        }}
        onKeyDown={(event) => event.key === "Escape" && onDone(undefined)}
        onBlur={done}
      />
      <datalist id={list}>
        {options.map(({ value }) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </form>
  )
}

interface FiltersProps {
  readonly filters: UsageFilters
  readonly onChange: (change: UsageFilters) => void
  /** Further filters and controls after these. */
  readonly children?: ReactNode
}

/** The name of a filter's value. */
export const useFilterName = (): ((of: Grouping, value: string) => string) => {
  const keys = useQuery({ ...keysQuery, enabled: false })
  const projects = useQuery({ ...projectsQuery, enabled: false })
  return (of, value) => {
    if (of === "status") return statusName(value)
    if (of === "operation") return operationName(value)
    const list = of === "key" ? keys.data : of === "project" ? projects.data : undefined
    return list?.find(({ id }) => id === value)?.name ?? value
  }
}

/** The filters that are set, and a select that adds another one. */
export const Filters = ({ children, filters, onChange }: FiltersProps) => {
  const [adding, setAdding] = useState<Grouping>()
  const nameOf = useFilterName()
  // The chips need the names of their keys and projects.
  useQuery({ ...keysQuery, enabled: filters.key !== undefined })
  useQuery({ ...projectsQuery, enabled: filters.project !== undefined })
  const set = groupings.filter((name) => filters[name] !== undefined)
  return (
    <div className="filters" role="group" aria-label="Filters">
      {set.map((name) => (
        <FilterChip
          key={name}
          name={sentence(name)}
          value={nameOf(name, filters[name] ?? "")}
          onRemove={() => onChange({ [name]: undefined })}
        />
      ))}
      {adding === undefined ? (
        <select
          className="select"
          data-search=""
          aria-label="Add a filter"
          value=""
          onChange={({ target }) => setAdding(target.value as Grouping)}
        >
          <option value="">Add a filter</option>
          {groupings
            .filter((name) => !set.includes(name))
            .map((name) => (
              <option key={name} value={name}>
                {sentence(name)}
              </option>
            ))}
        </select>
      ) : (
        <NewFilter
          of={adding}
          onDone={(value) => {
            setAdding(undefined)
            if (value !== undefined && value !== "") onChange({ [adding]: value })
          }}
        />
      )}
      {children}
    </div>
  )
}
