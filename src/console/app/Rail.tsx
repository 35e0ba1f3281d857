/** The rail beside every page: links to the pages, the theme and the sign-out. */
import { Link } from "@tanstack/react-router"
import { type ReactNode, useEffect, useRef } from "react"
import { Icon } from "../parts/Icons.tsx"
import type { PageEntry } from "./Pages.ts"
import { setTheme, type Theme, useTheme } from "./Theme.ts"

const nextTheme: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" }
const themeIcon = { system: "screen", light: "sun", dark: "moon" } as const

interface RailProps {
  readonly label: string
  readonly open: boolean
  readonly groups: ReadonlyArray<ReadonlyArray<PageEntry>>
  /** A label beside the product's name. */
  readonly chip?: string
  /** Above the pages. */
  readonly before?: ReactNode
  /** Below the pages. */
  readonly after?: ReactNode
  /** A note after the name of a page. */
  readonly noteOf?: (page: PageEntry) => ReactNode
  /** Buttons before those of every rail. */
  readonly buttons?: ReactNode
  readonly docs: string
  readonly signOut: { readonly name: string; readonly title: string; readonly run: () => void }
}

/** The rail. On a phone it is a sheet that shows while `open`. */
export const Rail = (props: RailProps) => {
  const { after, before, buttons, chip, docs, groups, label, noteOf, open, signOut } = props
  const theme = useTheme()
  const ref = useRef<HTMLElement>(null)
  // On a phone the sheet covers the page, so it takes the focus.
  useEffect(() => {
    if (open) ref.current?.querySelector<HTMLElement>("a, button")?.focus()
  }, [open])
  const home = groups[0]![0]!
  return (
    <aside ref={ref} className={open ? "rail open" : "rail"} aria-label={label}>
      <Link
        className="brand"
        to={home.to}
        aria-label={`tollgate${chip === undefined ? "" : ` ${chip}`}, ${home.name.toLowerCase()}`}
      >
        <img src="/icon.svg" alt="" />
        <span className="words">tollgate {chip === undefined ? null : <span className="chip">{chip}</span>}</span>
      </Link>
      {before}
      {groups.map((group) => (
        <nav key={group[0]!.to} aria-label={group.map(({ name }) => name).join(", ")}>
          {group.map((page) => (
            <Link
              key={page.to}
              to={page.to}
              activeProps={{ className: "active", "aria-current": "page" }}
              title={page.name}
            >
              <Icon name={page.icon} />
              <span className="words">{page.name}</span>
              {noteOf?.(page)}
            </Link>
          ))}
        </nav>
      ))}
      {after}
      <div className="foot">
        {buttons}
        <a href={docs} title="Documentation">
          <Icon name="docs" />
          <span className="words">Documentation</span>
        </a>
        <button type="button" onClick={() => setTheme(nextTheme[theme])} title={`Theme: ${theme}`}>
          <Icon name={themeIcon[theme]} />
          <span className="words">Theme: {theme}</span>
        </button>
        <button type="button" onClick={signOut.run} title={signOut.title}>
          <Icon name="out" />
          <span className="words clip">{signOut.name}</span>
        </button>
      </div>
    </aside>
  )
}
