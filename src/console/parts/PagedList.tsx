/** Lists that the gateway returns by pages. */
import type { UseInfiniteQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Empty, Failed, SkeletonRows } from "./States.tsx"

interface Page<A> {
  readonly data: ReadonlyArray<A>
}

/** The result of reading such a list. */
export type Pages<A> = UseInfiniteQueryResult<{ readonly pages: ReadonlyArray<Page<A>> }>

interface PagedListProps<A> {
  readonly of: Pages<A>
  /** The plural name of the rows. */
  readonly name: string
  readonly empty: { readonly title: string; readonly about?: string }
  readonly rows?: number
  readonly children: (rows: ReadonlyArray<A>) => ReactNode
}

/** The rows read so far, with a button that reads older ones. It shows placeholders, an empty state or an error in place of missing rows. */
export const PagedList = <A,>({ children, empty, name, of, rows: shape = 6 }: PagedListProps<A>) => {
  const rows = of.data?.pages.flatMap(({ data }) => data)
  return (
    <>
      {of.isError ? <Failed error={of.error} onRetry={() => void of.refetch()} /> : null}
      {rows === undefined ? (
        of.isError ? null : (
          <SkeletonRows rows={shape} />
        )
      ) : rows.length === 0 && !of.hasNextPage ? (
        <Empty title={empty.title}>{empty.about === undefined ? null : <p>{empty.about}</p>}</Empty>
      ) : (
        // The rows of the former filter stay until those of the new one arrive.
        <div className="refresh" aria-busy={of.isPlaceholderData}>
          {children(rows)}
        </div>
      )}
      {of.hasNextPage ? (
        <div className="body more">
          <button
            type="button"
            className="button"
            disabled={of.isFetchingNextPage}
            onClick={() => void of.fetchNextPage()}
          >
            Show older {name}
          </button>
        </div>
      ) : null}
    </>
  )
}
