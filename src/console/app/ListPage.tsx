import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { count } from "../format/Figures.ts"
import { Icon } from "../parts/Icons.tsx"
import { Empty, Failed, SkeletonRows } from "../parts/States.tsx"
import { Page } from "./Page.tsx"

interface ListPageProps<A> {
  readonly title: string
  readonly query: UseQueryResult<ReadonlyArray<A>>
  /** The button that creates a row: its verb and noun, and its action. */
  readonly create?: { readonly name: string; readonly run: () => void }
  readonly tools?: ReactNode
  /** The header of the card. */
  readonly head?: (rows: ReadonlyArray<A> | undefined) => ReactNode
  /** The empty state: a sentence, what the rows are for, and an action in place of the button that creates one. */
  readonly empty: { readonly title: string; readonly about?: ReactNode; readonly action?: ReactNode }
  /** Whether the page shows a row. */
  readonly filter?: (row: A) => boolean
  /** The maximum number of rows that the query reads. A note says so when there are as many. */
  readonly most?: number
  /** Whether each row renders its own card. */
  readonly cards?: boolean
  readonly children: (rows: ReadonlyArray<A>) => ReactNode
  readonly dialogs?: ReactNode
}

/** A page that lists rows of one kind. It shows placeholders while it reads, an empty state without rows, and the error of a failed read. */
export const ListPage = <A,>(props: ListPageProps<A>) => {
  const { cards = false, children, create, dialogs, empty, filter = () => true } = props
  const { head, most = Infinity, query, title, tools } = props
  const rows = query.data?.filter(filter)
  const button =
    create === undefined ? undefined : (
      <button type="button" className="button primary" onClick={create.run}>
        <Icon name="plus" />
        {create.name}
      </button>
    )
  const body =
    rows === undefined ? (
      query.isError ? null : (
        <SkeletonRows />
      )
    ) : rows.length === 0 ? (
      <Empty title={empty.title} action={empty.action ?? button}>
        {empty.about === undefined ? null : <p>{empty.about}</p>}
      </Empty>
    ) : (
      children(rows)
    )
  return (
    <Page
      title={title}
      tools={
        <>
          {tools}
          {button}
        </>
      }
    >
      {query.isError ? <Failed error={query.error} onRetry={() => void query.refetch()} /> : null}
      {body === null || (cards && rows !== undefined && rows.length > 0) ? (
        body
      ) : (
        <section className="card" aria-label={title}>
          {head === undefined ? null : <header>{head(rows)}</header>}
          {body}
        </section>
      )}
      {(query.data?.length ?? 0) < most ? null : (
        <p className="muted small">This page lists only the newest {count(most)}. The API lists the others.</p>
      )}
      {dialogs}
    </Page>
  )
}
