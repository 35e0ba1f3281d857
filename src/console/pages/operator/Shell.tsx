/** The frame around every page of a signed-in operator. */
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { MenuContext } from "../../app/Page.tsx"
import { setTheme, type Theme, useTheme } from "../../app/Theme.ts"
import { operatorApi } from "../../data/Client.ts"
import { forgetOperator, operatorSessionQuery, attentionQuery } from "../../data/Operator.ts"
import { moment } from "../../format/Figures.ts"
import { Icon, type IconName } from "../../parts/Icons.tsx"
import { toast, Toasts } from "../../parts/Toasts.tsx"

interface Entry {
  readonly to: string
  readonly name: string
  readonly icon: IconName
}

const groups: ReadonlyArray<ReadonlyArray<Entry>> = [
  [
    { to: "/operator/accounts", name: "Accounts", icon: "people" },
    { to: "/operator/requests", name: "Requests", icon: "requests" },
    { to: "/operator/top-ups", name: "Top-ups", icon: "billing" }
  ],
  [
    { to: "/operator/report", name: "Report", icon: "explorer" },
    { to: "/operator/plans", name: "Plans", icon: "presets" },
    { to: "/operator/spend", name: "Provider spend", icon: "gauge" }
  ],
  [{ to: "/operator/audit", name: "Audit", icon: "audit" }]
]

const nextTheme: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" }
const themeIcon = { system: "screen", light: "sun", dark: "moon" } as const

/** How many top-ups wait, where any do. */
const Waiting = () => {
  const { data } = useInfiniteQuery({ ...attentionQuery, refetchInterval: 60_000 })
  const waiting = data?.pages[0]?.data.length ?? 0
  if (waiting === 0) return null
  return (
    <span className="count" title={`${waiting} need an operator`}>
      {waiting}
      {data?.pages[0]?.next_cursor === null ? "" : "+"}
    </span>
  )
}

const useSignOut = () => {
  const client = useQueryClient()
  const navigate = useNavigate()
  return async () => {
    try {
      await operatorApi.call("operator.session.delete")
    } catch {
      return toast("The gateway could not end the session. Try again.")
    }
    forgetOperator(client)
    await navigate({ to: "/operator/sign-in" })
  }
}

const OperatorRail = ({ open }: { readonly open: boolean }) => {
  const theme = useTheme()
  const { data: session } = useQuery({ ...operatorSessionQuery, enabled: false })
  const signOut = useSignOut()
  return (
    <aside className={open ? "rail open" : "rail"} aria-label="Operator">
      <Link className="brand" to="/operator/accounts" aria-label="tollgate operator, accounts">
        <img src="/icon.svg" alt="" />
        <span className="words">
          tollgate <span className="chip">operator</span>
        </span>
      </Link>
      {groups.map((group) => (
        <nav key={group[0]!.to} aria-label={group.map(({ name }) => name).join(", ")}>
          {group.map(({ icon, name, to }) => (
            <Link key={to} to={to} activeProps={{ className: "active", "aria-current": "page" }} title={name}>
              <Icon name={icon} />
              <span className="words">{name}</span>
              {to === "/operator/top-ups" ? <Waiting /> : null}
            </Link>
          ))}
        </nav>
      ))}
      <div className="foot">
        <a href="/docs/operate/console" title="Documentation">
          <Icon name="docs" />
          <span className="words">Documentation</span>
        </a>
        <button type="button" onClick={() => setTheme(nextTheme[theme])} title={`Theme: ${theme}`}>
          <Icon name={themeIcon[theme]} />
          <span className="words">Theme: {theme}</span>
        </button>
        <button
          type="button"
          onClick={() => void signOut()}
          title={
            session == null ? "Sign out" : `Sign out. The session ends on ${moment(session.ends_at)} at the latest.`
          }
        >
          <Icon name="out" />
          <span className="words clip">Sign out {session?.key.name}</span>
        </button>
      </div>
    </aside>
  )
}

export const OperatorShell = () => {
  const location = useLocation()
  const [open, setOpen] = useState(false)
  useEffect(() => setOpen(false), [location.pathname])
  return (
    <MenuContext value={() => setOpen(true)}>
      <div className="frame operator">
        <a className="button skip" href="#content">
          Skip to the content
        </a>
        <OperatorRail open={open} />
        {open ? (
          <button type="button" className="veil" aria-label="Close the menu" onClick={() => setOpen(false)} />
        ) : null}
        <div className="content">
          <Outlet />
        </div>
        <Toasts />
      </div>
    </MenuContext>
  )
}
