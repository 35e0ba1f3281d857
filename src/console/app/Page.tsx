import { createContext, type ReactNode, useContext, useEffect } from "react"
import { Icon } from "../parts/Icons.tsx"

/** The function that opens the rail on a phone. */
export const MenuContext = createContext<() => void>(() => undefined)

interface PageProps {
  readonly title: string
  /** Controls beside the title: the range, filters and actions. */
  readonly tools?: ReactNode
  readonly before?: ReactNode
  readonly children: ReactNode
}

/** A page: the top line with its title, and the content below. It also sets the title of the browser's tab. */
export const Page = ({ before, children, title, tools }: PageProps) => {
  const openMenu = useContext(MenuContext)
  useEffect(() => {
    document.title = `${title} · tollgate`
  }, [title])
  return (
    <>
      <header className="top">
        <div className="inner">
          <button type="button" className="button square menu" aria-label="Open the menu" onClick={openMenu}>
            <Icon name="menu" />
          </button>
          {before}
          <h1 className="clip">{title}</h1>
          {tools}
        </div>
      </header>
      <main className="page" id="content" tabIndex={-1}>
        {children}
      </main>
    </>
  )
}
