/** Memory for the long answers of providers, which are held whole until they are passed on. */
import { Context, type Effect, type Scope, Semaphore } from "effect"

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

/** Whether answers of at most so many bytes take none of it. */
export const isShort = (maxBodyBytes: number): boolean => maxBodyBytes <= SHORT_BYTES

/** Takes room for an answer of at most so many bytes, until a scope ends; waits while there is none. */
export const takeRoom = (room: Semaphore.Semaphore, maxBodyBytes: number): Effect.Effect<void, never, Scope.Scope> =>
  room.takeScoped(Math.min(ROOM_MEBIBYTES, Math.ceil(maxBodyBytes / USUAL_PART / MEBIBYTE)))
