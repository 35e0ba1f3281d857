/** Fields that chat completions, responses and messages have in common. */
import { Schema } from "effect"
import { between, integer, orNull, sized, textOf } from "../Bounds.ts"
import { ModelString } from "../Ids.ts"
import { RouterOptions, RoutingPolicy } from "../Routing.ts"

/** The models of a request. */
export const modelFields = {
  /**
   * A model id, a fallback chain of up to 15 ids separated by commas, or `@` and the slug of a preset. Required unless `models` is
   * given.
   */
  model: orNull(ModelString),
  /** The fallback chain as a list of 1 to 15 ids. */
  models: orNull(Schema.Array(ModelString).check(...sized(1, 15, "items")))
}

/** How a request is routed, and what it may cost. */
export const routingFields = {
  /** Requests with the same id belong to one session; see `router.pin_model`. 1 to 256 characters. */
  session_id: orNull(textOf(1, 256)),
  /** The routing of this request. Default: that of the key, or else of its project. */
  routing: orNull(RoutingPolicy),
  /** Options for `svc/auto`. */
  router: orNull(RouterOptions),
  /** The maximum cost of this request, in US cents. Models that could cost more are left out. */
  budget_cents: orNull(between(0, 1_000_000_000))
}

/** How a model samples its output. */
export const samplingFields = {
  /** From 0 to 2. Higher values make the answer more random. Default: the model's own. */
  temperature: orNull(between(0, 2)),
  /** The model samples from the most likely tokens that together have this probability, from 0 to 1. Default: the model's own. */
  top_p: orNull(between(0, 1)),
  /** The model samples from this many of the most likely tokens. Default: the model's own. */
  top_k: orNull(integer(0, 1_000_000)),
  /** From -2 to 2. Above 0, a token becomes less likely the more often it has occurred. Default: 0. */
  frequency_penalty: orNull(between(-2, 2)),
  /** From -2 to 2. Above 0, tokens that have occurred become less likely. Default: 0. */
  presence_penalty: orNull(between(-2, 2))
}

/** The end user and the prompt cache, as OpenAI's requests name them. */
export const endUserFields = {
  /** An id of the end user, with which a provider can trace misuse. At most 256 characters. */
  user: orNull(textOf(0, 256)),
  /** The same under OpenAI's newer name, with at most 128 characters. Used when `user` is absent. */
  safety_identifier: orNull(textOf(0, 128)),
  /** A hint for OpenAI's prompt cache: requests with the same key have much in common. At most 64 characters. */
  prompt_cache_key: orNull(textOf(0, 64))
}
