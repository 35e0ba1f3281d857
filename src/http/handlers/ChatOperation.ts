/** A paid chat operation of any dialect: turns an HTTP request into a service request, and its answer into a response. */
import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { Caller, type Principal } from "../../../schemas/Access.ts"
import type { PresetConfig } from "../../../schemas/management/Presets.ts"
import { Catalogue } from "../../catalogue/Catalogue.ts"
import type { Snapshot } from "../../catalogue/Snapshot.ts"
import { modelFieldsOf, objectOf } from "../../dialects/Decode.ts"
import { memberOf, type MemberNames } from "../../dialects/RefusedMember.ts"
import { basePolicy } from "../../dialects/Routing.ts"
import type { StreamEncoder, StreamOpening } from "../../dialects/StreamEncoder.ts"
import type { DecodedChatRequest, DecodedRequest } from "../../dialects/DecodedRequest.ts"
import { type Failure, failure, invalid } from "../../domain/Failure.ts"
import type { Model } from "../../domain/Model.ts"
import type { RoutingPolicy } from "../../domain/Plan.ts"
import type { OpenReasoning } from "../../domain/Reasoning.ts"
import type { Answer } from "../../domain/Answer.ts"
import { countPrompt } from "../../domain/Tokens.ts"
import { Inference } from "../../inference/Inference.ts"
import { ReasoningSeals } from "../../inference/ReasoningSeals.ts"
import type { ChatRequest, RequestContext } from "../../inference/Request.ts"
import { Config } from "../../platform/config/Config.ts"
import { readTraceContext } from "../../platform/telemetry/Tracing.ts"
import { Presets, type ResolvedPreset } from "../../presets/Presets.ts"
import { parseSteering } from "../../providers/sandbox/Steering.ts"
import { withModelParam, type ModelFields, parseChain } from "../../domain/Chain.ts"
import { modelsOf } from "../../router/Router.ts"
import { type BodyRequest, readJson } from "../edge/Body.ts"
import { EventStream } from "../edge/EventStream.ts"
import { Exchange } from "../edge/Exchange.ts"
import { describe, logFailure, markFailedResponse } from "../Failures.ts"
import { claimOf } from "../edge/Idempotency.ts"
import { type FoundPreset, takePaidPreset, takePreset } from "./Preset.ts"

/** The maximum number of ignored fields in the header. */
const IGNORED_MAX = 32

/** Percent-encodes a field's name, which may contain half a surrogate pair, for which there is no encoding. */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll("%5B", "[").replaceAll("%5D", "]")

/** The header that lists fields without effect. */
export const ignoredHeader = (names: ReadonlyArray<string>): Record<string, string> =>
  names.length === 0
    ? {}
    : { "x-svc-ignored-parameters": names.slice(0, IGNORED_MAX).map(encodeName).join(", ").slice(0, 2_048) }

/** The header that marks a replayed answer. */
export const replayHeader = (replayed: boolean): Record<string, string> =>
  replayed ? { "idempotency-replayed": "true" } : {}

const streamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
}

/** The steering of the sandbox's double. Outside a sandbox the header has no effect. */
export const steeringOf = (header: string | undefined, sandbox: boolean): Result.Result<string | undefined, Failure> =>
  header === undefined || !sandbox
    ? Result.succeed(undefined)
    : Result.mapBoth(parseSteering(header), {
        onFailure: (problems) => failure({ _tag: "ValidationError", problems }),
        onSuccess: () => header
      })

/** A received request, and its operation. */
export interface ReceivedRequest {
  readonly request: Pick<BodyRequest, "headers" | "method">
  readonly exchange: Exchange
  readonly principal: Principal
  /**
   * The body as it was sent. Only the digest of its idempotency claim reads it after it was decoded: a repeat must be the same request
   * in the members that no decoder knows, too.
   */
  readonly body: unknown
  readonly operation: string
  /** The scope of its idempotency key, whatever the spelling of the URL. */
  readonly path: string
  readonly sandbox: boolean
  /** The operation's options in its headers that differ from the default, if any. */
  readonly headerOptions?: object | undefined
}

/** Reads everything about a request except its body. Fails when a header is invalid. */
export const requestContextOf = (received: ReceivedRequest): Result.Result<RequestContext, Failure> => {
  const { body, exchange, operation, path, principal, request, sandbox, headerOptions } = received
  const { headers, method } = request
  const claim = claimOf(headers["idempotency-key"], method, path, body, headerOptions)
  if (Result.isFailure(claim)) return Result.fail(claim.failure)
  return Result.map(steeringOf(headers["x-svc-sandbox"], sandbox), (steering) => ({
    requestId: exchange.requestId,
    operation,
    principal,
    claim: claim.success,
    steering,
    watch: exchange.line,
    trace: { span: exchange.span, from: readTraceContext(headers["traceparent"], headers["tracestate"]) },
    arrivedAt: exchange.arrivedAt
  }))
}

/** The first model the client named. A list of models may be longer than the answer's `model`, so `routing` contains it. */
const modelOf = ({ sent, slug }: FoundPreset, [first = ""]: ReadonlyArray<string>): string => {
  const { model, models } = sent
  if (typeof model === "string") return model
  return slug === undefined || models != null ? first : `@${slug}`
}

/** The models of a request for a token count, or the failure when one of them is unknown. */
const knownModels = (
  catalogue: Snapshot,
  sent: ModelFields,
  { model, models }: Pick<DecodedChatRequest, "model" | "models">
): Result.Result<ReadonlyArray<Model>, Failure> =>
  Result.mapError(
    Result.flatMap(parseChain(model, models), (chain) => modelsOf(catalogue, chain)),
    (failed) => withModelParam(failed, sent)
  )

/** Builds the service request of a decoded body. */
export const chatRequestOf = (
  requestContext: RequestContext,
  found: FoundPreset,
  decoded: DecodedChatRequest
): Result.Result<ChatRequest, Failure> => {
  const read = found.missing === undefined ? parseChain(decoded.model, decoded.models) : Result.succeed([])
  if (Result.isFailure(read)) return Result.fail(withModelParam(read.failure, found.sent))
  const chain = read.success
  return Result.succeed({
    ...requestContext,
    model: modelOf(found, chain),
    chain,
    sent: found.sent,
    preset: found.preset && { slug: found.preset.slug, version: found.preset.version },
    policy: decoded.policy,
    auto: decoded.auto,
    conversation: decoded.conversation,
    parameters: decoded.parameters,
    stream: decoded.stream,
    budgetCents: decoded.budgetCents,
    unplannable: found.missing
  })
}

/** How a dialect decodes a request and encodes its answer. */
export interface ChatDialect<D extends DecodedRequest> {
  /** `base` is the routing when neither the request nor its preset says. `open` opens reasoning that the client sends back. */
  readonly decode: (
    body: unknown,
    preset: ResolvedPreset | undefined,
    byPath: boolean,
    base: RoutingPolicy,
    open: OpenReasoning
  ) => Result.Result<D, Failure>
  readonly encode: (answer: Answer, decoded: D) => object
  readonly encoder: (opening: StreamOpening, decoded: D) => StreamEncoder
  /** Adds what the request's headers say. */
  readonly withHeaders?: (decoded: D, headers: Readonly<Record<string, string | undefined>>) => D
  /** Headers for facts that the body of a complete answer cannot contain. */
  readonly headersOf?: (answer: Answer) => Readonly<Record<string, string>>
  /** The dialect's names of request fields. */
  readonly names: MemberNames
}

/** The minimum limit for items of a Responses API input, even if the operator allows fewer messages. */
const INPUT_ITEMS = 1_000

/**
 * Decodes a request unless it has more messages than the operator allows. Where it has none, the failure says how many it may have
 * beside what else is wrong. `prompt` is the member that holds them.
 */
export const withinMessages = <A>(
  body: unknown,
  { maxMessages, prompt = "messages" }: { readonly maxMessages: number; readonly prompt?: string | undefined },
  decode: () => Result.Result<A, Failure>
): Result.Result<A, Failure> => {
  const list = objectOf(body)?.[prompt]
  const most = prompt === "messages" ? maxMessages : Math.max(INPUT_ITEMS, maxMessages)
  if (!Array.isArray(list) || (list.length > 0 && list.length <= most)) return decode()
  const message = `must contain 1 to ${most.toLocaleString("en-US")} items; got ${list.length.toLocaleString("en-US")}`
  if (list.length > 0) return Result.fail(invalid(prompt, message))
  return Result.mapError(decode(), (failed) => {
    if (failed.reason._tag !== "ValidationError") return failed
    const [first, ...others] = failed.reason.problems.map((problem) =>
      problem.field === prompt ? { field: prompt, message } : problem
    )
    return first === undefined ? failed : invalid(first.field, first.message, ...others)
  })
}

/** The dialect with the operator's limit on messages. */
export const withMessageLimit = <D extends DecodedRequest>(
  dialect: ChatDialect<D>,
  maxMessages: number
): ChatDialect<D> => ({
  ...dialect,
  decode: (body, ...rest) =>
    withinMessages(body, { maxMessages, prompt: dialect.names["messages"] }, () => dialect.decode(body, ...rest))
})

/** Renames the field that is too long, or that a provider rejected, to the dialect's name. */
export const withDialectNames = (names: MemberNames, failed: Failure): Failure => {
  const { log, reason } = failed
  switch (reason._tag) {
    case "ContextLengthExceeded":
    case "ProviderOverflow":
      return failure({ ...reason, param: memberOf("messages", names) }, log)
    case "ProviderRefused":
    case "ContentPolicyViolation":
      return reason.param === undefined ? failed : failure({ ...reason, param: memberOf(reason.param, names) }, log)
    default:
      return failed
  }
}

/** How a dialect decodes a request for a token count. */
export interface CountDialect<D> {
  readonly decode: (body: unknown, preset: PresetConfig | undefined, open: OpenReasoning) => Result.Result<D, Failure>
  /** The member that holds the prompt. */
  readonly prompt?: string
  /** Whether a request may name no model, because the count is the same for every model. */
  readonly modelless: boolean
}

/** Counts the tokens of a request's prompt, with the preset that it names. Fails when it names an unknown model. */
export const countOperation = <D extends Pick<DecodedChatRequest, "conversation" | "model" | "models">>({
  decode,
  modelless,
  prompt
}: CountDialect<D>) =>
  Effect.gen(function* () {
    const catalogue = yield* Catalogue
    const presets = yield* Presets
    const { maxMessages } = yield* Config
    const seals = yield* ReasoningSeals
    return Effect.fnUntraced(function* (request: BodyRequest) {
      const { accountId } = yield* Caller
      const body = yield* readJson(request)
      const sent = modelFieldsOf(body)
      const preset = yield* takePreset(presets, yield* Exchange, { accountId, sent })
      const decoded = yield* Effect.fromResult(
        withinMessages(body, { maxMessages, prompt }, () => decode(body, preset?.config, seals.openFor(accountId)))
      )
      const { conversation, model, models } = decoded
      if (!modelless || model !== undefined || models !== undefined) {
        yield* Effect.fromResult(knownModels(catalogue.current(), sent, { model, models }))
      }
      return { decoded, tokens: countPrompt(conversation) }
    })
  })

/** The path of an operation and its name, for receipts and as the scope of idempotency keys. */
export interface ChatRoute {
  readonly operation: string
  readonly path: string
  /** The preset in its path. */
  readonly slug?: string | undefined
}

/** A request and its caller. */
export interface CallerRequest extends Pick<ReceivedRequest, "exchange" | "principal"> {
  readonly request: BodyRequest
}

/** Adds the caller of the running request to it. */
export const withCaller = ({
  exchange,
  request
}: Omit<CallerRequest, "principal">): Effect.Effect<CallerRequest, never, Caller> =>
  Effect.map(Caller, (principal) => ({ request, exchange, principal }))

/** Serves one dialect: reads the body, applies the preset it names, and answers as a whole or as a stream, as requested. */
export const chatOperation = <D extends DecodedRequest>(unlimited: ChatDialect<D>) =>
  Effect.gen(function* () {
    const inference = yield* Inference
    const presets = yield* Presets
    const { maxMessages, sandbox } = yield* Config
    const dialect = withMessageLimit(unlimited, maxMessages)
    const seals = yield* ReasoningSeals
    const inWords = (failed: Failure) => withDialectNames(dialect.names, failed)
    const run = Effect.runForkWith(yield* Effect.context())

    /** Builds the service request. */
    const chatOf = (received: ReceivedRequest, found: FoundPreset, decoded: D): Result.Result<ChatRequest, Failure> =>
      Result.flatMap(requestContextOf(received), (requestContext) => chatRequestOf(requestContext, found, decoded))

    const whole = (chat: ChatRequest, exchange: Exchange, decoded: D) =>
      Effect.map(Effect.mapError(inference.chat(chat), inWords), ({ answer, replayed }) => {
        exchange.preset = answer.preset
        return HttpServerResponse.jsonUnsafe(dialect.encode(answer, decoded), {
          headers: { ...ignoredHeader(decoded.ignored), ...dialect.headersOf?.(answer), ...replayHeader(replayed) }
        })
      })

    const streamed = (chat: ChatRequest, exchange: Exchange, decoded: D) =>
      Effect.map(Effect.mapError(inference.chatStream(chat), inWords), (stream) => {
        exchange.preset = stream.preset
        const { created, replayed, requestId } = stream
        const encoder = dialect.encoder({ requestId, created, model: chat.model, describe }, decoded)
        // Only the last item can be an error, so encoding the others can remain a plain function.
        const answered = new EventStream(stream, encoder, (failed) => {
          markFailedResponse(failed, exchange)
          run(logFailure(failed, exchange))
        })
        return HttpServerResponse.raw(answered, {
          headers: { ...streamHeaders, ...ignoredHeader(decoded.ignored), ...replayHeader(replayed) }
        })
      })

    return (
      { exchange, principal, request }: CallerRequest,
      { operation, path, slug }: ChatRoute
    ): Effect.Effect<HttpServerResponse.HttpServerResponse, Failure> => {
      const answer = (body: unknown, taken: FoundPreset) => {
        const open = seals.openFor(principal.accountId)
        const decoded = dialect.decode(body, taken.preset, slug !== undefined, basePolicy(principal), open)
        if (Result.isFailure(decoded)) return Effect.fail(taken.missing ?? decoded.failure)
        const { withHeaders = (read: D) => read } = dialect
        const decodedChat = withHeaders(decoded.success, request.headers)
        const received = { request, exchange, principal, body, operation, path, sandbox }
        const chat = chatOf(received, taken, decodedChat)
        if (Result.isFailure(chat)) return Effect.fail(chat.failure)
        return (chat.success.stream ? streamed : whole)(chat.success, exchange, decodedChat)
      }
      const repeatable = request.headers["idempotency-key"] !== undefined
      return Effect.flatMap(readJson(request), (body) =>
        Effect.flatMapEager(
          takePaidPreset(presets, exchange, {
            accountId: principal.accountId,
            sent: modelFieldsOf(body),
            slug,
            repeatable
          }),
          (taken) => answer(body, taken)
        )
      )
    }
  })
