/** Memory for the long answers of providers, which are held whole until they are passed on. */
import { Context, type Effect, Semaphore } from "effect"

const MEBIBYTE = 1_048_576

/** What a node has for them. */
const ROOM_MEBIBYTES = 512

/** Answers are at most as long as they may be, and as a rule a quarter of that: bounds are for numbers written most widely. */
const USUAL_PART = 4

/** Answers that cannot be longer than this take none of it. */
const SHORT_BYTES = 4 * MEBIBYTE

/** The room of this node, in mebibytes. */
export const AnswerRoom = Context.Reference<Semaphore.Semaphore>("tollgate/providers/AnswerRoom", {
  defaultValue: () => Semaphore.makeUnsafe(ROOM_MEBIBYTES)
})

/** Asks while there is room for an answer of at most so many bytes; one for which there is none waits for others to come. */
export const inRoom = (
  room: Semaphore.Semaphore,
  maxBodyBytes: number
): (<A, E>(self: Effect.Effect<A, E>) => Effect.Effect<A, E>) =>
  maxBodyBytes <= SHORT_BYTES
    ? (self) => self
    : room.withPermits(Math.min(ROOM_MEBIBYTES, Math.ceil(maxBodyBytes / USUAL_PART / MEBIBYTE)))
