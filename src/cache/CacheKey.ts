import type { Brand } from "effect"
import { hash } from "node:crypto"
import { canonicalJson } from "../domain/CanonicalJson.ts"

/** Names one question of one account in one project to one model. There is no other way to an answer than by such a key. */
export type CacheKey = Brand.Branded<string, "CacheKey">

/** All that an answer depends on. */
export interface Question {
  readonly accountId: string
  /** Null for a key that is in no project; such keys share their answers with each other alone. */
  readonly projectId: string | null
  /** The model that is to answer. */
  readonly model: string
  /** What is asked, as plain JSON values. */
  readonly request: object
}

/** The key of a question: equal for equal questions, whatever the order of their members. */
export const keyOf = ({ accountId, model, projectId, request }: Question): CacheKey =>
  hash("sha256", canonicalJson([accountId, projectId, model, request]), "hex") as CacheKey
