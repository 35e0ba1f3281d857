import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Icon } from "../parts/Icons.tsx"
import { Empty, Failed, SkeletonRows } from "../parts/States.tsx"
import { Page } from "./Page.tsx"

interface ListPageProps<A> {
  readonly title: string
  readonly query: UseQueryResult<ReadonlyArray<A>>
  /** The verb and the noun of the button that makes one, and what it does. */
  readonly create?: { readonly name: string; readonly run: () => void }
  readonly tools?: ReactNode
  /** The head of the card. */
  readonly head?: (rows: ReadonlyArray<A> | undefined) => ReactNode
  /** What stands there without rows: a sentence, and what the things are for. */
  readonly empty: { readonly title: string; readonly about?: ReactNode; readonly action?: ReactNode }
  /** Rows that the page leaves out. */
  readonly chosen?: (row: A) => boolean
  /** Rows that bring cards of their own. */
  readonly cards?: boolean
  readonly children: (rows: ReadonlyArray<A>) => ReactNode
  /** Dialogs. */
  readonly open?: ReactNode
}

const all = () => true

/** A page that lists things of one kind: while they are read, without any, and when the read fails. */
export const ListPage = <A,>(props: ListPageProps<A>) => {
  const { cards = false, children, chosen = all, create, empty, head, open, query, title, tools } = props
  const rows = query.data?.filter(chosen)
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
      {open}
    </Page>
  )
}
