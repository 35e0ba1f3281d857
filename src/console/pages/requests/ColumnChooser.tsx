import { Icon } from "../../parts/Icons.tsx"
import { columns, shownColumns } from "./Columns.tsx"

interface ColumnChooserProps {
  readonly chosen: string | undefined
  readonly onChange: (chosen: string | undefined) => void
}

/** Chooses the columns of the table. The URL keeps the choice. Without a choice, the columns fit the window. */
export const ColumnChooser = ({ chosen, onChange }: ColumnChooserProps) => {
  const shown = new Set(shownColumns(chosen, window.innerWidth).map(({ id }) => id))
  const toggle = (id: string, on: boolean) =>
    onChange(
      columns
        .map((column) => column.id)
        .filter((one) => (one === id ? on : shown.has(one)))
        .join(",")
    )
  return (
    <details className="menu-of">
      <summary className="button">
        <Icon name="settings" />
        Columns
      </summary>
      <div className="menu-body" role="group" aria-label="Columns">
        {columns.map(({ id, name }) => (
          <label key={id} className="switch">
            <input type="checkbox" checked={shown.has(id)} onChange={({ target }) => toggle(id, target.checked)} />
            {name}
          </label>
        ))}
        <button
          type="button"
          className="button tiny"
          disabled={chosen === undefined}
          onClick={() => onChange(undefined)}
        >
          Reset columns
        </button>
      </div>
    </details>
  )
}
