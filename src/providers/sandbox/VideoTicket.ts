/**
 * The sandbox's video jobs. A ticket contains the whole job: its scene, and when it was submitted. So every process can compute its
 * progress from the time alone.
 */
import { objectOf, parseJson } from "../wire/Json.ts"

/** The content of a clip. */
export interface ClipContent {
  readonly width: number
  readonly height: number
  /** A whole number. */
  readonly seconds: number
  readonly lines: ReadonlyArray<string>
  /** A 32-bit number that determines the colours. */
  readonly seed: number
}

/** How a submitted job fails. */
export type VideoFault = "stall" | "break" | "malformed" | "empty"

export interface VideoJob {
  /** When it was submitted, in Unix milliseconds. */
  readonly takenAt: number
  /** The duration of the job, in milliseconds. */
  readonly ms: number
  readonly fault: VideoFault | undefined
  readonly scene: ClipContent
}

/** The progress of a job, without its result. */
export type VideoProgress =
  | { readonly _tag: "Queued" }
  | { readonly _tag: "Processing"; readonly progress: number }
  | { readonly _tag: "Ended" }

export const ticketOf = (job: VideoJob): string => Buffer.from(JSON.stringify(job)).toString("base64url")

/** The job of a ticket; undefined for a ticket that the sandbox did not make. */
export const jobOf = (ticket: string): VideoJob | undefined => {
  const job = objectOf(parseJson(Buffer.from(ticket, "base64url")))
  return typeof job?.["takenAt"] === "number" && objectOf(job["scene"]) !== undefined
    ? (job as unknown as VideoJob)
    : undefined
}

/** The fraction of its time during which a job is queued. */
const WAITING = 0.1

/** The percentage at which a stalled job stays. */
const STALLED_AT = 50

/** The progress of a job at `now`, in Unix milliseconds. */
export const progressAt = ({ fault, ms, takenAt }: VideoJob, now: number): VideoProgress => {
  const done = ms === 0 ? 1 : Math.max(0, now - takenAt) / ms
  if (done >= 1 && fault !== "stall") return { _tag: "Ended" }
  if (done < WAITING) return { _tag: "Queued" }
  const most = fault === "stall" ? STALLED_AT : 99
  return { _tag: "Processing", progress: Math.min(most, Math.floor(done * 100)) }
}
