import type { Brand } from "effect"
import { hash } from "node:crypto"
import { canonicalJson } from "../domain/CanonicalJson.ts"

/** Identifies a question of one account, in one project, to one model. Responses can be read only by such a key. */
export type CacheKey = Brand.Branded<string, "CacheKey">

/** Everything that a response depends on. */
export interface Question {
  readonly accountId: string
  /** Null for keys without a project. Such keys share responses only with each other. */
  readonly projectId: string | null
  /** The model that answers. */
  readonly model: string
  /** The request as plain JSON values. */
  readonly request: object
}

/** Returns the key of a question. Equal questions have equal keys, whatever the order of their fields. */
export const keyOf = ({ accountId, model, projectId, request }: Question): CacheKey =>
  hash("sha256", canonicalJson([accountId, projectId, model, request]), "hex") as CacheKey
