/** The frame of every page of a signed-in operator. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { Frame } from "../../app/Frame.tsx"
import type { PageEntry } from "../../app/Pages.ts"
import { Rail } from "../../app/Rail.tsx"
import { type PagesByLetter, useShortcuts } from "../../app/Shortcuts.ts"
import { useSignOut } from "../../app/SignOut.ts"
import { operatorApi } from "../../data/Client.ts"
import { forgetOperator, operatorSessionQuery, attentionQuery } from "../../data/Operator.ts"
import { plural } from "../../format/Words.ts"
import { moment } from "../../format/Figures.ts"

const groups: ReadonlyArray<ReadonlyArray<PageEntry>> = [
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

const letters: PagesByLetter = {
  a: "/operator/accounts",
  r: "/operator/requests",
  t: "/operator/top-ups",
  m: "/operator/report",
  p: "/operator/plans",
  s: "/operator/spend"
}

/** The number of top-ups that need an operator. It shows nothing for zero. */
const TopUpCount = () => {
  const { data } = useInfiniteQuery({ ...attentionQuery, refetchInterval: 60_000 })
  const waiting = data?.pages[0]?.data.length ?? 0
  if (waiting === 0) return null
  return (
    <span className="count" title={`${plural(waiting, "top-up needs", "top-ups need")} an operator`}>
      {waiting}
      {data?.pages[0]?.next_cursor === null ? "" : "+"}
    </span>
  )
}

/** The rail of operators around their pages. */
export const OperatorShell = () => {
  const { data: session } = useQuery({ ...operatorSessionQuery, enabled: false })
  useShortcuts(letters)
  const signOut = useSignOut({
    end: () => operatorApi.call("operator.session.delete"),
    forget: forgetOperator,
    to: "/operator/sign-in"
  })
  return (
    <Frame
      isOperator
      rail={(open) => (
        <Rail
          label="Operator"
          chip="operator"
          open={open}
          groups={groups}
          noteOf={({ to }) => (to === "/operator/top-ups" ? <TopUpCount /> : null)}
          docs="/docs/operate/console"
          signOut={{
            name: `Sign out ${session?.key.name ?? ""}`,
            title:
              session == null ? "Sign out" : `Sign out. The session ends on ${moment(session.ends_at)} at the latest.`,
            run: () => void signOut()
          }}
        />
      )}
    />
  )
}
