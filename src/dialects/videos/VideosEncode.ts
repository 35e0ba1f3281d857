import type { LegacyVideoJob, VideoJob } from "../../../schemas/inference/Videos.ts"
import { usdFromNano } from "../../domain/Money.ts"
import { secondsOf } from "../../domain/UnixTime.ts"
import type { Video } from "../../domain/Video.ts"

/** The body of a video job. */
export const encodeVideo = (video: Video, balanceWarning?: string): VideoJob => ({
  id: video.id,
  object: "video",
  model: video.model,
  status: video.state,
  created_at: secondsOf(video.createdAt),
  completed_at: video.completedAt === undefined ? null : secondsOf(video.completedAt),
  prompt: video.prompt,
  duration: video.duration,
  aspect_ratio: video.aspectRatio,
  progress: video.progress,
  ...(video.url === undefined ? {} : { video_url: video.url }),
  error: video.error ?? null,
  cost_usd: usdFromNano(video.cost),
  refunded: video.refunded,
  provider: video.provider ?? null,
  request_id: video.requestId,
  ...(balanceWarning === undefined ? {} : { balance_warning: { warning: "low_balance", threshold: balanceWarning } })
})

/** Encodes a video job for the legacy routes. */
export const encodeLegacyVideo = (video: Video, balanceWarning?: string): LegacyVideoJob => {
  const { id, ...job } = encodeVideo(video, balanceWarning)
  return { id, job_id: id, ...job }
}
