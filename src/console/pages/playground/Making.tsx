/** What images, speech and videos have in common: a form beside a gallery of what was made in this page. */
import { useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react"
import { wordsOf } from "../../data/Client.ts"
import { useHeldKey } from "../../data/Held.ts"
import { balanceQuery } from "../../data/Queries.ts"
import { duration } from "../../format/Figures.ts"
import { Money } from "../../parts/Figures.tsx"
import { Empty } from "../../parts/States.tsx"
import { Estimate } from "./Estimate.tsx"
import { PlaygroundKey, PlaygroundKeyName } from "./PlaygroundKey.tsx"

/** One request for a picture or for speech. */
export interface Made {
  readonly id: number
  readonly model: string
  readonly prompt: string
  readonly beganMs: number
  readonly totalMs?: number
  /** Addresses of this page or of this gateway. */
  readonly urls?: ReadonlyArray<string>
  readonly costUsd?: number | undefined
  readonly requestId?: string | undefined
  readonly error?: string
}

interface Kept {
  made: ReadonlyArray<Made>
  last: number
  readonly listeners: Set<() => void>
}

/** What was made stays while the page does, whichever tab is shown. */
export const makeGallery = () => {
  const kept: Kept = { made: [], last: 0, listeners: new Set() }
  const keep = (made: ReadonlyArray<Made>) => {
    kept.made = made
    for (const listener of kept.listeners) listener()
  }
  return {
    get: () => kept.made,
    listen: (listener: () => void) => {
      kept.listeners.add(listener)
      return () => kept.listeners.delete(listener)
    },
    /** Shows a request from its beginning, and its result when it is there. */
    run: async (
      about: Pick<Made, "model" | "prompt">,
      make: () => Promise<Pick<Made, "urls" | "costUsd" | "requestId">>
    ) => {
      const begun: Made = { ...about, id: ++kept.last, beganMs: performance.now() }
      const end = (change: Partial<Made>) => {
        const done = { ...begun, ...change, totalMs: performance.now() - begun.beganMs }
        keep(kept.made.map((one) => (one.id === begun.id ? done : one)))
      }
      keep([begun, ...kept.made])
      try {
        end(await make())
      } catch (error) {
        const { message, requestId } = wordsOf(error)
        end({ error: message, requestId })
      }
    }
  }
}

export type Gallery = ReturnType<typeof makeGallery>

export const useGallery = (gallery: Gallery): ReadonlyArray<Made> => useSyncExternalStore(gallery.listen, gallery.get)

const TICK_MS = 100

/** How long a request has been running. */
export const Running = ({ sinceMs }: { readonly sinceMs: number }) => {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return <span className="number">{((now - sinceMs) / 1_000).toFixed(1)} s</span>
}

interface MadeCardProps {
  readonly of: Made
  /** The shape of what comes. */
  readonly shape: "picture" | "sound"
  readonly show: (url: string, of: Made) => ReactNode
}

export const MadeCard = ({ of, shape, show }: MadeCardProps) => (
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
          <Running sinceMs={of.beganMs} />
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

interface MakingProps {
  readonly label: string
  /** The request as code, where it is shown. */
  readonly code: ReactNode
  readonly action: string
  readonly ready: boolean
  readonly fields: ReactNode
  /** The body for an estimate; undefined while it would be refused. */
  readonly estimate: object | undefined
  readonly onMake: (key: string) => void
  readonly gallery: ReactNode
  readonly empty: { readonly title: string; readonly about: string } | undefined
}

export const Making = (props: MakingProps) => {
  const { action, code, empty, estimate, fields, gallery, label, onMake, ready } = props
  const held = useHeldKey()
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
            if (held === undefined) return
            onMake(held.secret)
            void client.invalidateQueries(balanceQuery)
          }}
        >
          {held === undefined ? <PlaygroundKey /> : <PlaygroundKeyName />}
          {fields}
          <span className="small muted">
            <Estimate
              apiKey={held?.secret}
              bodies={estimate === undefined ? [] : [estimate]}
              otherwise={
                held === undefined ? "First choose a key above." : "The console shows the cost before you send."
              }
            />
          </span>
          <button type="submit" className="button primary" disabled={held === undefined || !ready}>
            {action}
          </button>
        </form>
      </aside>
    </div>
  )
}
