/** Operations that can serve a body without an HTTP request of its own, for example in a batch. */
import { Effect, Layer, Result } from "effect"
import { modelFieldsOf } from "../../dialects/Decode.ts"
import { decodeEmbeddings } from "../../dialects/embeddings/EmbeddingsDecode.ts"
import { afterList, beforeList } from "../../dialects/embeddings/EmbeddingsEncode.ts"
import { basePolicy } from "../../dialects/Routing.ts"
import type { DecodedRequest } from "../../dialects/DecodedRequest.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import { restore } from "../../inference/Answer.ts"
import type { Answer, PaidAnswer } from "../../domain/Answer.ts"
import { BatchOperations } from "../../batches/Batches.ts"
import { Inference } from "../../inference/Inference.ts"
import { ReasoningSeals } from "../../inference/ReasoningSeals.ts"
import type { ServedItem, BatchOperation } from "../../inference/BatchOperation.ts"
import { type StoredWork, Work } from "../../inference/Work.ts"
import { Config } from "../../platform/config/Config.ts"
import { AnswerMemory } from "../../providers/pool/AnswerMemory.ts"
import { Presets } from "../../presets/Presets.ts"
import { mostEmbedBytes } from "../../providers/wire/EmbedDecode.ts"
import { chatDialect } from "./Chat.ts"
import { type ChatDialect, chatRequestOf, withMessageLimit, withDialectNames } from "./ChatOperation.ts"
import { restoreEmbedded, wholeRequest } from "./Embeddings.ts"
import type { ErrorForm } from "../edge/Exchange.ts"
import { bodyOf, forms } from "../Failures.ts"
import { table } from "../FailureRows.ts"
import { messagesDialect } from "./Messages.ts"
import { takePaidPreset } from "./Preset.ts"
import { responsesDialect } from "./Responses.ts"

const streamed = invalid("stream", "must be false in a batch")

/** The stored answer of a request; undefined for a refusal. */
const answerKept = <A extends PaidAnswer>(kept: unknown, cost: bigint): A | undefined => {
  const restored = restore<A>(kept, cost)
  return restored._tag === "Answer" ? restored.answer : undefined
}

const refusedIn =
  (form: ErrorForm): BatchOperation["refused"] =>
  (failed, requestId) => ({
    statusCode: table[failed.reason._tag].status,
    body: forms[form](bodyOf(failed), requestId)
  })

const chatBatchOperation = <D extends DecodedRequest>(
  operation: string,
  unlimited: ChatDialect<D>,
  form: ErrorForm = "standard"
) =>
  Effect.gen(function* () {
    const inference = yield* Inference
    const presets = yield* Presets
    const dialect = withMessageLimit(unlimited, (yield* Config).maxMessages)
    const seals = yield* ReasoningSeals
    const inWords = (failed: Failure) => withDialectNames(dialect.names, failed)
    const accept: BatchOperation["accept"] = Effect.fnUntraced(function* (body, requestContext) {
      const { claim, principal } = requestContext
      const { accountId } = principal
      const reference = { accountId, sent: modelFieldsOf(body), repeatable: claim !== undefined }
      const found = yield* takePaidPreset(presets, { preset: undefined }, reference)
      const read = dialect.decode(body, found.preset, false, basePolicy(principal), seals.openFor(accountId))
      const decoded = yield* Effect.fromResult(Result.mapError(read, (failed) => found.missing ?? failed))
      if (decoded.stream) return yield* Effect.fail(streamed)
      const request = yield* Effect.fromResult(chatRequestOf(requestContext, found, decoded))
      const encode = (answer: Answer) => JSON.stringify(dialect.encode(answer, decoded))
      return {
        ignored: decoded.ignored,
        dataPolicy: decoded.policy.dataPolicy,
        bounds: () =>
          Result.mapBoth(inference.prepare({ ...request, accountId }), {
            onFailure: inWords,
            onSuccess: ({ estimate }) => estimate
          }),
        serve: (share) =>
          Effect.mapBoth(inference.chat({ ...request, ...share }), {
            onFailure: inWords,
            onSuccess: ({ answer }): ServedItem => ({
              requestId: answer.requestId,
              cost: answer.cost,
              body: encode(answer)
            })
          }),
        again: (kept, cost) => {
          const answer = answerKept<Answer>(kept, cost)
          return answer && encode(answer)
        }
      }
    })
    return { operation, accept, refused: refusedIn(form) } satisfies BatchOperation
  })

const embeddingsBatchOperation = Effect.gen(function* () {
  const work = yield* Work
  const memory = yield* AnswerMemory
  const accept: BatchOperation["accept"] = (body, requestContext) =>
    Effect.map(Effect.fromResult(decodeEmbeddings(body)), ({ model, work: asked }) => {
      const policy = basePolicy(requestContext.principal)
      const request = wholeRequest(memory, { ...requestContext, model, policy }, asked)
      const encode = (answer: PaidAnswer & { readonly used: number }, data: Uint8Array) =>
        `${beforeList(model)}${Buffer.from(data).toString()}${afterList(answer)}`
      return {
        ignored: [],
        dataPolicy: policy.dataPolicy,
        mostBytes: mostEmbedBytes(asked),
        bounds: () => work.bounds(request),
        serve: (share) =>
          Effect.map(work.run({ ...request, ...share }), (answer): ServedItem => ({
            requestId: answer.requestId,
            cost: answer.cost,
            body: encode(answer, answer.value.data)
          })),
        again: (kept, cost) => {
          const answer = answerKept<StoredWork>(kept, cost)
          return answer && encode(answer, restoreEmbedded(answer.value).data)
        }
      }
    })
  return { operation: "embeddings", accept, refused: refusedIn("standard") } satisfies BatchOperation
})

/** Every operation that a batch can consist of. */
export const layer = Layer.effect(
  BatchOperations,
  Effect.gen(function* () {
    return {
      "/chat/completions": yield* chatBatchOperation("chat.completions", chatDialect),
      "/messages": yield* chatBatchOperation("messages", messagesDialect, "messages"),
      "/responses": yield* chatBatchOperation("responses", responsesDialect),
      "/embeddings": yield* embeddingsBatchOperation
    }
  })
)
