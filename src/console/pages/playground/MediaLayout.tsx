/** The layout of the tabs for images, speech and videos: a form beside a gallery. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useEffect, useState } from "react"
import { useKeyInMemory } from "../../data/KeyInMemory.ts"
import { balanceQuery } from "../../data/Queries.ts"
import { duration, lasting } from "../../format/Figures.ts"
import { Money } from "../../parts/Figures.tsx"
import { Empty } from "../../parts/States.tsx"
import { Estimate } from "./Estimate.tsx"
import type { MediaResult } from "./Gallery.ts"
import { PlaygroundKey, PlaygroundKeyName } from "./PlaygroundKey.tsx"

const TICK_MS = 1_000

/** The time since a request began, which counts up. */
export const Elapsed = ({ sinceMs }: { readonly sinceMs: number }) => {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return <span className="number">{lasting(Math.floor((now - sinceMs) / 1_000))}</span>
}

interface MediaCardProps {
  readonly of: MediaResult
  /** The shape of the placeholder while the request runs. */
  readonly shape: "picture" | "sound"
  readonly show: (url: string, of: MediaResult) => ReactNode
}

/** A request with its result, its error or a placeholder, and its cost. */
export const MediaCard = ({ of, shape, show }: MediaCardProps) => (
  <article className="card made" aria-busy={of.totalMs === undefined}>
    {of.totalMs === undefined ? <div className={`skeleton shape-${shape}`} /> : null}
    {of.urls?.map((url) => (
      <div key={url}>{show(url, of)}</div>
    ))}
    {of.error === undefined ? null : (
      <div className="banner bad" role="alert">
        <span>{of.error}</span>
      </div>
    )}
    <div className="body">
      <p className="clip" title={of.prompt}>
        {of.prompt}
      </p>
      <span className="after small muted">
        <span className="clip">{of.model}</span>
        {of.totalMs === undefined ? (
          <Elapsed sinceMs={of.beganMs} />
        ) : (
          <span className="number">{duration(of.totalMs)}</span>
        )}
        {of.costUsd === undefined ? null : <Money usd={of.costUsd} />}
        {of.requestId === undefined ? null : (
          <Link to="/requests/$id" params={{ id: of.requestId }}>
            Receipt
          </Link>
        )}
      </span>
    </div>
  </article>
)

interface MediaLayoutProps {
  readonly label: string
  /** The dialog with the request as code, while it is open. */
  readonly code: ReactNode
  readonly action: string
  readonly ready: boolean
  readonly fields: ReactNode
  /** The body for `POST /estimate`; undefined while the form is incomplete. */
  readonly estimate: object | undefined
  readonly onMake: (key: string) => void
  readonly gallery: ReactNode
  readonly empty: { readonly title: string; readonly about: string } | undefined
}

/** A tab: the gallery, and the form with its key, its fields and its estimated cost. */
export const MediaLayout = (props: MediaLayoutProps) => {
  const { action, code, empty, estimate, fields, gallery, label, onMake, ready } = props
  const pageKey = useKeyInMemory()
  const client = useQueryClient()
  return (
    <div className="grid side made-of">
      {code}
      <section aria-label={`Gallery of ${label}`}>
        {empty === undefined ? (
          <div className="gallery">{gallery}</div>
        ) : (
          <div className="card">
            <Empty title={empty.title}>
              <p>{empty.about}</p>
            </Empty>
          </div>
        )}
      </section>
      <aside className="card" aria-label="Options">
        <form
          className="body form"
          onSubmit={(event) => {
            event.preventDefault()
            if (pageKey === undefined) return
            onMake(pageKey.secret)
            void client.invalidateQueries(balanceQuery)
          }}
        >
          {pageKey === undefined ? <PlaygroundKey /> : <PlaygroundKeyName />}
          {fields}
          <span className="small muted">
            <Estimate
              apiKey={pageKey?.secret}
              bodies={estimate === undefined ? [] : [estimate]}
              otherwise={
                pageKey === undefined ? "First choose a key above." : "The console shows the cost before you send."
              }
            />
          </span>
          <button type="submit" className="button primary" disabled={pageKey === undefined || !ready}>
            {action}
          </button>
        </form>
      </aside>
    </div>
  )
}
