import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { LegacyAccess, LegacyEnvelope } from "../Access.ts"
import {
  LegacyConflictError,
  LegacyIdempotencyError,
  LegacyInsufficientCreditsError,
  LegacyNotFoundError,
  LegacyTimeoutError,
  LegacyUpstreamError
} from "../LegacyErrors.ts"
import { operation } from "../Operation.ts"
import { idempotency } from "./ChatGroup.ts"
import { ImageList, ImageRequest } from "./Images.ts"
import { LegacyChatCompletion, LegacyChatRequest } from "./LegacyChat.ts"

const headers = {
  ...idempotency,
  /** `false`: the request neither reads nor writes the cache. Default: `true`. */
  "x-svc-cache": Schema.optional(Schema.String),
  /** How long an answer to this request is cached, in seconds, 1 to 3,600. Default: 300. */
  "x-svc-cache-ttl": Schema.optional(Schema.String),
  /** `no-store`: the request neither reads nor writes the cache. */
  "cache-control": Schema.optional(Schema.String)
}

/** The errors that only a paid operation of this kind can return. */
const paidErrors = [
  LegacyInsufficientCreditsError,
  LegacyNotFoundError,
  LegacyConflictError,
  LegacyIdempotencyError,
  LegacyUpstreamError,
  LegacyTimeoutError
] as const

/** Older routes that stay available and have newer equivalents. */
export class LegacyGroup extends HttpApiGroup.make("legacy")
  .add(
    HttpApiEndpoint.post("chat", "/chat", {
      headers,
      payload: LegacyChatRequest,
      success: HttpApiSchema.WithHeaders(LegacyChatCompletion, {
        "x-svc-cache-status": Schema.Literals(["HIT", "MISS", "BYPASS"])
      }),
      error: paidErrors
    }).annotateMerge(
      operation("chat", "Create a chat completion, or return the cached one", { limit: "chat", charge: "tokens" })
    ),
    HttpApiEndpoint.post("images", "/images", {
      headers: idempotency,
      payload: ImageRequest,
      success: ImageList,
      error: paidErrors
    }).annotateMerge(operation("images", "Make or edit images", { limit: "images", charge: "images" }))
  )
  .middleware(LegacyAccess)
  .middleware(LegacyEnvelope) {}
