import type { ErrorBody } from "../../schemas/Errors.ts"
import type { Failure } from "../domain/Failure.ts"
import type { StreamItem } from "../domain/Answer.ts"

/** The facts of a stream when its first content has arrived. */
export interface StreamOpening {
  readonly requestId: string
  /** Unix seconds. */
  readonly created: number
  /** As the client named it. */
  readonly model: string
  /** The error object of a failure in the middle of the stream. */
  readonly describe: (failure: Failure) => ErrorBody["error"]
}

/** Encodes one stream as the frames of a dialect: called once for each item, in order. */
export interface StreamEncoder {
  readonly encode: (item: StreamItem) => string
}
