import { Link } from "@tanstack/react-router"
import type { VideoJob } from "../../../client/Contract.ts"
import { fileUrl } from "../../data/Addresses.ts"
import { isVideoRunning } from "../../data/Jobs.ts"
import { lasting } from "../../format/Figures.ts"
import { Id } from "../../parts/Copy.tsx"
import { Ago, Money, Status } from "../../parts/Figures.tsx"
import { Progress } from "../../parts/Progress.tsx"

const Player = ({ of }: { readonly of: VideoJob }) => {
  if (of.video_url !== undefined) {
    return (
      <div className="player">
        <video controls preload="metadata" src={fileUrl(of.video_url)} aria-label={of.prompt} />
      </div>
    )
  }
  return (
    <div className="player">
      <div className="waiting">
        {isVideoRunning(of) ? (
          <>
            <span className="number">
              {of.status === "queued" ? "Waiting for the provider" : `${of.progress ?? 0}% done`}
            </span>
            <Progress label={`Progress of ${of.prompt}`} part={(of.progress ?? 0) / 100} />
          </>
        ) : (
          <span>{of.error?.message ?? "There is no video."}</span>
        )}
      </div>
    </div>
  )
}

/** A video job: the video or its progress, its cost, and a link to its receipt. */
export const VideoCard = ({ of }: { readonly of: VideoJob }) => (
  <article className="card made" aria-label={of.prompt}>
    <Player of={of} />
    <div className="body">
      <p className="lines-2" title={of.prompt}>
        {of.prompt}
      </p>
      <span className="actions">
        <Status of={of.status} />
        <span className="small muted">
          <Ago at={of.created_at} />
        </span>
      </span>
      <span className="after small muted">
        <span className="clip" title={of.model}>
          {of.model}
        </span>
        <span className="number">{of.duration} s long</span>
        {of.completed_at === null ? null : (
          <span className="number">took {lasting(of.completed_at - of.created_at)}</span>
        )}
        <Money usd={of.cost_usd} />
        {of.refunded ? <span>refunded</span> : null}
      </span>
      <span className="actions small">
        <Link to="/requests/$id" params={{ id: of.request_id }}>
          Receipt
        </Link>
        {of.video_url === undefined ? null : (
          <a href={fileUrl(of.video_url)} download={`${of.id}.mp4`}>
            Download
          </a>
        )}
      </span>
      <Id value={of.id} />
    </div>
  </article>
)
