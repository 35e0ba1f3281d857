/** Reads a multipart form with a file, as OpenAI's clients send it. */
import * as NodeMultipart from "@effect/platform-node/NodeMultipart"
import { Effect, Stream } from "effect"
import { Multipart } from "effect/http"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import type { ApiRequest } from "./ApiRequest.ts"
import { MAX_BODY_BYTES, compressedBodyFailure } from "./Body.ts"
import { type BodyBudget, NodeBodyBudget } from "./BodyBudget.ts"

/** An uploaded file, and the text fields of its form. */
export interface Upload {
  readonly fields: ReadonlyMap<string, string>
  readonly file: { readonly name: string; readonly bytes: Uint8Array } | undefined
}

/** The field that contains the file. */
const FILE = "file"

const MAX_PARTS = 16
const MAX_FIELD_BYTES = 1_024

/** The content type does not decide whether a part is a field: a file may be declared as JSON. */
const limits = Multipart.limitsServices({ maxParts: MAX_PARTS, maxFieldSize: MAX_FIELD_BYTES, fieldMimeTypes: [] })

const failureOf = ({ reason }: Multipart.MultipartError): Failure => {
  switch (reason._tag) {
    case "FileTooLarge":
    case "BodyTooLarge":
      return failure({ _tag: "RequestTooLarge", limitBytes: MAX_BODY_BYTES })
    case "FieldTooLarge":
      return invalid("body", `must have fields of at most ${MAX_FIELD_BYTES} bytes`)
    case "TooManyParts":
      return invalid("body", `must have at most ${MAX_PARTS} parts`)
    default:
      return invalid("body", "must be a well-formed multipart/form-data body")
  }
}

const received = ({ proceed, source }: ApiRequest, take: BodyBudget["take"]) =>
  Effect.gen(function* () {
    const fields = new Map<string, string>()
    let file: Upload["file"]
    proceed?.()
    yield* Stream.runForEach(NodeMultipart.stream(source, source.headers), (part) => {
      if (part._tag === "Field") {
        if (fields.has(part.key) || part.key === FILE)
          return Effect.fail(invalid(part.key, "must occur once, as a field"))
        fields.set(part.key, part.value)
        return Effect.void
      }
      if (part.key !== FILE || file !== undefined)
        return Effect.fail(invalid(part.key, "must be one file, named `file`"))
      const chunks: Array<Uint8Array> = []
      return Effect.map(
        Stream.runForEach(part.content, (chunk) => {
          if (!take(chunk.length)) return Effect.fail(failure({ _tag: "Overloaded" }))
          chunks.push(chunk)
          return Effect.void
        }),
        () => {
          file = { name: part.name, bytes: Buffer.concat(chunks) }
        }
      )
    })
    return { fields, file } satisfies Upload
  }).pipe(
    Effect.catchTag("MultipartError", (error) => Effect.fail(failureOf(error))),
    Effect.provideContext(limits)
  )

/**
 * Reads a form with at most one file and continues with it, within this node's memory for bodies. Fails with `UnsupportedMediaType`,
 * `RequestTooLarge` or `ValidationError`, and with `Overloaded` when that memory is used up.
 */
export const withUpload = <A, E>(
  request: ApiRequest,
  use: (upload: Upload) => Effect.Effect<A, E>
): Effect.Effect<A, E | Failure> =>
  Effect.flatMap(NodeBodyBudget, (budget): Effect.Effect<A, E | Failure> => {
    if (!/^multipart\/form-data\s*;/i.test(request.headers["content-type"] ?? "")) {
      return Effect.fail(failure({ _tag: "UnsupportedMediaType", wanted: "multipart/form-data" }))
    }
    const refused = compressedBodyFailure(request)
    if (refused !== undefined) return Effect.fail(refused)
    let reserved = 0
    const take = (bytes: number): boolean => {
      if (!budget.take(bytes)) return false
      reserved += bytes
      return true
    }
    return Effect.ensuring(
      Effect.flatMap(received(request, take), use),
      Effect.sync(() => budget.give(reserved))
    )
  })
