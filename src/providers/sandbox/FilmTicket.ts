/**
 * The sandbox's video jobs. All there is of one stands in its ticket: what is shown and when it was taken, so that how far it is
 * follows from the time alone, in whatever process.
 */
import { objectOf, parsed } from "../Json.ts"

/** What a clip shows. */
export interface Scene {
  readonly width: number
  readonly height: number
  /** Whole ones. */
  readonly seconds: number
  readonly lines: ReadonlyArray<string>
  /** The colours and the tone, a whole number of 32 bits. */
  readonly seed: number
  readonly audio: boolean
  /** A PNG in base64, shown above the text. */
  readonly picture: string | undefined
}

/** How a job goes wrong after it was taken. */
export type FilmFault = "stall" | "break" | "malformed" | "empty"

export interface FilmJob {
  /** When it was taken, in Unix milliseconds. */
  readonly takenAt: number
  /** How long it takes. */
  readonly ms: number
  readonly fault: FilmFault | undefined
  readonly scene: Scene
}

/** How far a job is, before it is looked at what came of it. */
export type FilmProgress =
  | { readonly _tag: "Queued" }
  | { readonly _tag: "Processing"; readonly progress: number }
  | { readonly _tag: "Ended" }

export const ticketOf = (job: FilmJob): string => Buffer.from(JSON.stringify(job)).toString("base64url")

/** The job of a ticket; undefined for what is none of ours. */
export const jobOf = (ticket: string): FilmJob | undefined => {
  const job = objectOf(parsed(Buffer.from(ticket, "base64url")))
  return typeof job?.["takenAt"] === "number" && objectOf(job["scene"]) !== undefined
    ? (job as unknown as FilmJob)
    : undefined
}

/** The part of its time that a job waits. */
const WAITING = 0.1

/** One that stalls gets halfway, and stays there. */
const STALLED_AT = 50

/** How far a job is at `now`, in Unix milliseconds. */
export const progressAt = ({ fault, ms, takenAt }: FilmJob, now: number): FilmProgress => {
  const done = ms === 0 ? 1 : Math.max(0, now - takenAt) / ms
  if (done >= 1 && fault !== "stall") return { _tag: "Ended" }
  if (done < WAITING) return { _tag: "Queued" }
  const most = fault === "stall" ? STALLED_AT : 99
  return { _tag: "Processing", progress: Math.min(most, Math.floor(done * 100)) }
}
