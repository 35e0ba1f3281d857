import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useRouter } from "@tanstack/react-router"
import { useState } from "react"
import type { OwnerSession } from "../../../client/Contract.ts"
import { api } from "../../data/Client.ts"
import { forgetOwner, ownerSessionsQuery } from "../../data/Queries.ts"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago } from "../../parts/Figures.tsx"
import { Failed, SkeletonRows } from "../../parts/States.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { plural } from "../../format/Words.ts"

const UNKNOWN = "Unknown browser"

const nameOf = ({ address, browser }: OwnerSession): string =>
  address === null ? (browser ?? UNKNOWN) : `${browser ?? UNKNOWN} at ${address}`

const Row = ({ of, onEnd }: { readonly of: OwnerSession; readonly onEnd: () => void }) => (
  <tr>
    <th scope="row">
      <span className="stack">
        <span>{of.browser ?? UNKNOWN}</span>
        {of.current ? (
          <span>
            <span className="badge good">This session</span>
          </span>
        ) : null}
      </span>
    </th>
    <td>{of.address === null ? "unknown" : <code>{of.address}</code>}</td>
    <td>
      <Ago at={of.created_at} />
    </td>
    <td>
      <Ago at={of.seen_at} />
    </td>
    <td>
      <RowActions
        of={nameOf(of)}
        actions={[{ name: of.current ? "Sign out" : "End", danger: !of.current, run: onEnd }]}
      />
    </td>
  </tr>
)

type SessionsToEnd = OwnerSession | "others" | "all"

/** Asks before sessions end. */
const EndDialog = ({ ending, others, onClose }: { ending: SessionsToEnd; others: number; onClose: () => void }) => {
  const client = useQueryClient()
  const router = useRouter()
  const signOut = () => {
    forgetOwner(client)
    void router.invalidate()
  }
  if (ending === "all" || (ending !== "others" && ending.current)) {
    const everywhere = ending === "all"
    return (
      <Confirm
        title={everywhere ? "Sign out everywhere?" : "Sign out here?"}
        action={everywhere ? "Sign out everywhere" : "Sign out"}
        run={() => api.call(everywhere ? "console.sessions.delete" : "console.session.delete")}
        onDone={signOut}
        onClose={onClose}
      >
        {everywhere
          ? "Every browser that is signed in to this account, this one included, has to sign in again. Keys keep working."
          : "This browser has to sign in again. Keys keep working."}
      </Confirm>
    )
  }
  return ending === "others" ? (
    <Confirm
      title="Sign out everywhere else?"
      action="Sign out everywhere else"
      run={() => api.call("console.sessions.end_others")}
      changes={[ownerSessionsQuery]}
      done={`Ended ${plural(others, "other session")}.`}
      onClose={onClose}
    >
      Every other browser has to sign in again. This one stays signed in. Keys keep working.
    </Confirm>
  ) : (
    <Confirm
      title="End this session?"
      action="End session"
      run={() => api.call("console.sessions.end", { path: { session_id: ending.id } })}
      changes={[ownerSessionsQuery]}
      done={`Ended the session of ${nameOf(ending)}.`}
      onClose={onClose}
    >
      {nameOf(ending)} has to sign in again. Keys keep working.
    </Confirm>
  )
}

/** The browsers that are signed in to the account. The owner can end each session, or all of them. */
export const SessionsCard = () => {
  const sessions = useQuery(ownerSessionsQuery)
  const [ending, setEnding] = useState<SessionsToEnd>()
  const others = (sessions.data ?? []).filter(({ current }) => !current).length
  return (
    <section className="card" aria-label="Sessions">
      <header>
        <h2>Sessions</h2>
        <span className="actions">
          <button type="button" className="button" disabled={others === 0} onClick={() => setEnding("others")}>
            Sign out everywhere else
          </button>
          <button type="button" className="button danger" onClick={() => setEnding("all")}>
            Sign out everywhere
          </button>
        </span>
      </header>
      {sessions.isError ? <Failed error={sessions.error} onRetry={() => void sessions.refetch()} /> : null}
      {sessions.isPending ? <SkeletonRows rows={2} /> : null}
      {sessions.data === undefined ? null : (
        <Table label="sessions" columns={["Browser", "Address", "Signed in", "Last used", actionsColumn]}>
          {sessions.data.map((session) => (
            <Row key={session.id} of={session} onEnd={() => setEnding(session)} />
          ))}
        </Table>
      )}
      <p className="body muted">
        A session ends after 30 days, or after 24 hours without use. If you do not recognize one, end it: the code for
        signing in goes to your email, so check that mailbox as well.
      </p>
      {ending === undefined ? null : <EndDialog ending={ending} others={others} onClose={() => setEnding(undefined)} />}
    </section>
  )
}
