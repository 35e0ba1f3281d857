/** The loading, empty and error states of pages. */
import type { ReactNode } from "react"
import { isFinal, wordsOf } from "../data/Client.ts"
import { Id } from "./Copy.tsx"

/** A placeholder for content during a read. */
export const Skeleton = ({ height = 16, width = "100%" }: { height?: number; width?: number | string }) => (
  <span className="skeleton" style={{ height, width }} />
)

/** Placeholders for the rows of a table. */
export const SkeletonRows = ({ rows = 6 }: { readonly rows?: number }) => (
  <div className="body grid" aria-busy="true" aria-label="Loading">
    {Array.from({ length: rows }, (_, at) => (
      <Skeleton key={at} width={`${96 - (at % 3) * 14}%`} />
    ))}
  </div>
)

interface EmptyProps {
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}

/** An empty state: a sentence, an explanation and an action. */
export const Empty = ({ action, children, title }: EmptyProps) => (
  <div className="empty">
    <p className="strong">{title}</p>
    {children}
    {action}
  </div>
)

interface FailedProps {
  readonly error: unknown
  readonly onRetry?: () => void
  /** Takes the place of "Try again" when the call would fail again, such as a link to a list. */
  readonly instead?: ReactNode
}

/** An error state: the message, the id of the request, and a button that tries again if that can help. */
export const Failed = ({ error, instead, onRetry }: FailedProps) => {
  const { message, requestId } = wordsOf(error)
  return (
    <div className="banner bad" role="alert">
      <span>{message}</span>
      {requestId === undefined ? null : <Id value={requestId} />}
      {isFinal(error) ? (
        instead
      ) : onRetry === undefined ? null : (
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}
