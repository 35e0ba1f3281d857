import { Result } from "effect"
import { RerankRequest } from "../../../schemas/inference/Rerank.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { NOT_AN_OBJECT } from "../../domain/SchemaProblems.ts"
import type { RerankWork } from "../../domain/Work.ts"
import { decoder, objectOf } from "../Decode.ts"

/** A request body, and the work for it. */
export interface DecodedRerank {
  readonly model: string
  readonly work: RerankWork
  readonly returnDocuments: boolean
}

const decodeWire = decoder(RerankRequest, { strict: true })

/** Decodes a request body. Errors name each invalid or unknown field. */
export const decodeRerank = (body: unknown): Result.Result<DecodedRerank, Failure> => {
  const object = objectOf(body)
  if (object === undefined) return Result.fail(invalid("body", NOT_AN_OBJECT))
  return Result.map(decodeWire(object), ({ documents, model, query, return_documents, top_n, truncation }) => ({
    model,
    work: { query, documents, topN: top_n ?? undefined, truncation: truncation ?? false },
    returnDocuments: return_documents ?? false
  }))
}
