import type { ErrorBody } from "../../schemas/Errors.ts"
import type { Failure } from "../domain/Failure.ts"
import type { StreamItem } from "../inference/StreamFlow.ts"

/** What is known of a stream when its first content has come. */
export interface StreamOpening {
  readonly requestId: string
  /** Unix seconds. */
  readonly created: number
  /** As the caller named it. */
  readonly model: string
  /** The error object of a failure that comes in the midst of the stream. */
  readonly describe: (failure: Failure) => ErrorBody["error"]
}

/** The frames of one stream in the words of a dialect: a fold of its items, called once for each, in their order. */
export interface StreamEncoder {
  readonly encode: (item: StreamItem) => string
}
