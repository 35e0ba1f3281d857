import { Data } from "effect"

/** Why the bench cannot go on, or what it found wrong, in one line. */
export class BenchError extends Data.TaggedError("BenchError")<{ readonly message: string }> {}
