import { Data } from "effect"

/** A failure of the bench, in one line. */
export class BenchError extends Data.TaggedError("BenchError")<{ readonly message: string }> {}
