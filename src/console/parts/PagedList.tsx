/** Lists by pages: their rows, and the button that reads older ones. */
import type { UseInfiniteQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Empty, Failed, SkeletonRows } from "./States.tsx"

interface Page<A> {
  readonly data: ReadonlyArray<A>
}

/** A list that is read by pages. */
export type Pages<A> = UseInfiniteQueryResult<{ readonly pages: ReadonlyArray<Page<A>> }>

interface PagedListProps<A> {
  readonly of: Pages<A>
  /** What the rows are, in the plural. */
  readonly name: string
  readonly empty: { readonly title: string; readonly about?: string }
  readonly rows?: number
  readonly children: (rows: ReadonlyArray<A>) => ReactNode
}

/** The rows of a list, what stands there without any, and the way to older ones. */
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
        // Rows of the filter before stand until those of the new one come.
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
