import { Effect, Result } from "effect"
import { type OutboundResponse, targetOf } from "../../platform/outbound/OutboundCall.ts"
import type { PublicFetch } from "../../platform/outbound/PublicFetch.ts"
import { makeHttpClip } from "../wire/HttpClip.ts"
import type { HttpWork } from "../wire/HttpWork.ts"
import { objectOf, parseJson, textIn } from "../wire/Json.ts"
import type { Provider, WorkCall } from "../Provider.ts"
import type { ProviderError } from "../ProviderError.ts"
import type { VideoJobState, VideoTicket } from "../../domain/Work.ts"
import { detailOf, isProvidersFault, POLICY, typesOf } from "./Failure.ts"
import { encodeVideo } from "./FalVideoEncode.ts"

/** A job's status takes about a kilobyte, but a model's errors can repeat its input. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** The queue's URL for a base URL. fal's own queue has a separate host name; any other host serves both. */
export const queueUrlOf = (baseUrl: string): string => {
  const url = new URL(baseUrl)
  if (url.hostname === "fal.run") url.hostname = "queue.fal.run"
  return url.href.replace(/\/+$/, "")
}

/**
 * Videos through fal's queue. A ticket is the path of the job's result there. A job that a model rejects counts as completed, and its
 * result contains the errors. <https://docs.fal.ai/model-endpoints/queue>
 */
export const makeFalVideo = (
  work: HttpWork,
  queueUrl: string
): Effect.Effect<Pick<Required<Provider>, "makeVideo" | "videoState" | "videoClip">, never, PublicFetch> =>
  Effect.map(makeHttpClip(work), (videoClip) => ({
    makeVideo: (call, asked) => {
      const encoded = encodeVideo(call.candidate.offer.upstreamId, asked)
      if (Result.isFailure(encoded)) return Effect.fail(work.error(encoded.failure))
      const { input, model } = encoded.success
      const request = {
        target: targetOf(`${queueUrl}/${model}`),
        accept: "application/json",
        body: JSON.stringify(input),
        makes: true as const,
        maxBodyBytes: MAX_ANSWER_BYTES
      }
      return Effect.flatMap(work.post(call, request), (body) => ticketOf(work, queueUrl, model, body))
    },
    videoState: (call, ticket) => stateOf(work, new URL(queueUrl).origin, call, ticket),
    videoClip
  }))

const malformed = (work: HttpWork, detail: string) => Effect.fail(work.error({ _tag: "Malformed", detail }))

/** The queue returns the URL of a job. At a host other than fal's, that URL still names fal's own host, so only its path is used. */
const ticketOf = (
  work: HttpWork,
  queueUrl: string,
  model: string,
  body: Uint8Array
): Effect.Effect<VideoTicket, ProviderError> => {
  const answer = objectOf(parseJson(body))
  const id = answer && textIn(answer, "request_id")
  if (answer === undefined || id === undefined || !/^[A-Za-z0-9._-]{1,128}$/.test(id)) {
    return malformed(work, "an answer without a request_id")
  }
  const address = textIn(answer, "response_url") ?? ""
  const url = URL.canParse(address) ? new URL(address) : undefined
  const { origin, pathname } = new URL(queueUrl)
  if (url?.origin === origin) return Effect.succeed({ ticket: url.pathname })
  const app = model.split("/").slice(0, 2).join("/")
  return Effect.succeed({ ticket: `${pathname.replace(/\/+$/, "")}/${app}/requests/${id}` })
}

/** A result is at the job's own path or at its `response`. The job's status is next to that. */
const statusOf = (ticket: string): string => `${ticket.replace(/\/response$/, "")}/status`

const getRequest = (origin: string, path: string) => ({
  target: { origin, path },
  accept: "application/json",
  maxBodyBytes: MAX_ANSWER_BYTES
})

const failed = (detail: string, refused = false): VideoJobState => ({ _tag: "Failed", detail, refused })

const stateOf = Effect.fnUntraced(function* (
  work: HttpWork,
  origin: string,
  call: WorkCall,
  ticket: string
): Effect.fn.Return<VideoJobState, ProviderError> {
  const body = yield* Effect.flatMap(work.get(call, getRequest(origin, statusOf(ticket))), work.accepted)
  const answer = objectOf(parseJson(body)) ?? {}
  switch (textIn(answer, "status")) {
    case "IN_QUEUE":
      return { _tag: "Queued" }
    case "IN_PROGRESS":
      return { _tag: "Processing", progress: undefined }
    case "COMPLETED":
      return yield* resultOf(work, yield* work.get(call, getRequest(origin, ticket)))
    case "FAILED":
    case "CANCELED":
      return failed(detailOf(body) ?? "the queue stopped the job")
    default:
      return yield* malformed(work, "an answer with an unknown status")
  }
})

/** The result of a completed job. A response that does not come from the job, such as a proxy's, says nothing about it. */
const resultOf = (work: HttpWork, answer: OutboundResponse): Effect.Effect<VideoJobState, ProviderError> => {
  const { body, status } = answer
  const object = objectOf(parseJson(body))
  if (status >= 200 && status < 300) {
    if (object === undefined) return malformed(work, "a result that is not JSON")
    const url = textIn(objectOf(object["video"]) ?? {}, "url")
    return Effect.succeed(url === undefined ? failed("the result has no video") : { _tag: "Completed", clip: { url } })
  }
  const types = typesOf(body)
  if (types.length === 0 || OURS.has(status)) return Effect.andThen(work.accepted(answer), malformed(work, "no result"))
  const refused = types.includes(POLICY) || (status === 422 && !types.some(isProvidersFault))
  return Effect.succeed(failed(`${types.join(", ")}: ${detailOf(body) ?? `status ${status}`}`, refused))
}

/** Statuses that concern the gateway's credential, money or rate limit. */
const OURS: ReadonlySet<number> = new Set([401, 402, 403, 429])
