import { Effect, Result } from "effect"
import { type OutboundResponse, targetOf } from "../../platform/OutboundCall.ts"
import type { PublicFetch } from "../../platform/PublicFetch.ts"
import { makeHttpClip } from "../HttpClip.ts"
import type { HttpWork } from "../HttpWork.ts"
import { objectOf, parsed, textIn } from "../Json.ts"
import type { Provider, ProviderError } from "../Provider.ts"
import type { FilmState, FilmTicket, WorkCall } from "../Work.ts"
import { detailOf, typesOf } from "./Failure.ts"
import { encodeFilm } from "./FalFilmEncode.ts"

/** What the queue says of a job has a kilobyte; a model's errors can repeat what it was told. */
const MAX_ANSWER_BYTES = 1024 * 1024

/** Where the queue of a host that is called at `baseUrl` is: fal's own has a name of its own, any other host has both. */
export const queueUrlOf = (baseUrl: string): string => {
  const url = new URL(baseUrl)
  if (url.hostname === "fal.run") url.hostname = "queue.fal.run"
  return url.href.replace(/\/+$/, "")
}

/**
 * Videos by fal's queue. A ticket is the path of the job's result there. A job that a model refuses counts as completed, and its
 * errors are what is given for its result. <https://docs.fal.ai/model-endpoints/queue>
 */
export const makeFalFilm = (
  work: HttpWork,
  queueUrl: string
): Effect.Effect<Pick<Required<Provider>, "film" | "filmState" | "filmClip">, never, PublicFetch> =>
  Effect.map(makeHttpClip(work), (filmClip) => ({
    film: (call, asked) => {
      const encoded = encodeFilm(call.candidate.offer.upstreamId, asked)
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
    filmState: (call, ticket) => stateOf(work, new URL(queueUrl).origin, call, ticket),
    filmClip
  }))

const malformed = (work: HttpWork, detail: string) => Effect.fail(work.error({ _tag: "Malformed", detail }))

/** The queue says where a job is. Behind a host of one's own it says where fal has it, which is of no use there. */
const ticketOf = (
  work: HttpWork,
  queueUrl: string,
  model: string,
  body: Uint8Array
): Effect.Effect<FilmTicket, ProviderError> => {
  const answer = objectOf(parsed(body))
  const id = answer && textIn(answer, "request_id")
  if (answer === undefined || id === undefined || !/^[A-Za-z0-9._-]{1,128}$/.test(id)) {
    return malformed(work, "an answer without a request_id")
  }
  const said = textIn(answer, "response_url") ?? ""
  const url = URL.canParse(said) ? new URL(said) : undefined
  const { origin, pathname } = new URL(queueUrl)
  if (url?.origin === origin) return Effect.succeed({ ticket: url.pathname })
  const app = model.split("/").slice(0, 2).join("/")
  return Effect.succeed({ ticket: `${pathname.replace(/\/+$/, "")}/${app}/requests/${id}` })
}

/** A result is at the job itself, or at a `response` of it; how far the job is stands beside that. */
const statusOf = (ticket: string): string => `${ticket.replace(/\/response$/, "")}/status`

const question = (origin: string, path: string) => ({
  target: { origin, path },
  accept: "application/json",
  maxBodyBytes: MAX_ANSWER_BYTES
})

const failed = (detail: string, refused = false): FilmState => ({ _tag: "Failed", detail, refused })

const stateOf = Effect.fnUntraced(function* (
  work: HttpWork,
  origin: string,
  call: WorkCall,
  ticket: string
): Effect.fn.Return<FilmState, ProviderError> {
  const body = yield* Effect.flatMap(work.get(call, question(origin, statusOf(ticket))), work.accepted)
  const answer = objectOf(parsed(body)) ?? {}
  switch (textIn(answer, "status")) {
    case "IN_QUEUE":
      return { _tag: "Queued" }
    case "IN_PROGRESS":
      return { _tag: "Processing", progress: undefined }
    case "COMPLETED":
      return yield* resultOf(work, yield* work.get(call, question(origin, ticket)))
    case "FAILED":
    case "CANCELED":
      return failed(detailOf(body) ?? "the queue gave it up")
    default:
      return yield* malformed(work, "an answer without a status that is known")
  }
})

/** What a completed job came to. An answer that is not the job's own, such as a proxy's, says nothing of it. */
const resultOf = (work: HttpWork, answer: OutboundResponse): Effect.Effect<FilmState, ProviderError> => {
  const { body, status } = answer
  const object = objectOf(parsed(body))
  if (status >= 200 && status < 300) {
    if (object === undefined) return malformed(work, "a result that is not JSON")
    const url = textIn(objectOf(object["video"]) ?? {}, "url")
    return Effect.succeed(url === undefined ? failed("the result has no video") : { _tag: "Completed", clip: { url } })
  }
  const types = typesOf(body)
  if (types.length === 0 || OURS.has(status)) return Effect.andThen(work.accepted(answer), malformed(work, "no result"))
  const refused = types.includes(POLICY) || (status === 422 && !types.some((type) => NOBODYS.has(type)))
  return Effect.succeed(failed(`${types.join(", ")}: ${detailOf(body) ?? `status ${status}`}`, refused))
}

/** Our credential, our rate. */
const OURS: ReadonlySet<number> = new Set([401, 402, 403, 429])

const POLICY = "content_policy_violation"

/** Kinds of errors with the status of a refusal that are not the caller's fault. */
const NOBODYS: ReadonlySet<string> = new Set(["no_media_generated", "generation_timeout", "internal_server_error"])
