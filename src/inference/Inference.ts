import { Context, Deferred, Effect, Layer, Result } from "effect"
import type { Principal } from "../../schemas/Access.ts"
import type { Failure } from "../domain/Failure.ts"
import { eventsOf, isContent } from "../domain/Output.ts"
import { defaultPolicy } from "../domain/Plan.ts"
import { ProviderPool } from "../providers/pool/ProviderPool.ts"
import { isAuto } from "../router/AutoRouter.ts"
import { Router } from "../router/Router.ts"
import { Requests } from "../usage/Requests.ts"
import type { Answer } from "../domain/Answer.ts"
import { prepareAuto, type WithModel, type Preparation, makePrepare } from "./Prepare.ts"
import type { PricedPlan } from "../domain/Estimate.ts"
import { type AdmittedChat, carryOutChat } from "./ChatFlow.ts"
import { type ClassifierOptions, makeClassify } from "./Classify.ts"
import { makePaidFlow, type PaidFlow, type PaidFlowOptions, type ActiveCall } from "./PaidFlow.ts"
import { withCurrentPrices } from "./Holding.ts"
import { Pins } from "./Auto.ts"
import { makeOpenPipes, Pipe } from "./Pipe.ts"
import { PromptImages } from "./PromptImages.ts"
import { ReasoningSeals } from "./ReasoningSeals.ts"
import type { ChatRequest } from "./Request.ts"
import { type AnswerStream, carryOutStream } from "./StreamFlow.ts"

export interface InferenceOptions extends PaidFlowOptions {
  /** The classifier for requests to `svc/auto` that the rules leave undecided. Absent: none. */
  readonly classifier?: ClassifierOptions | undefined
}

/** A complete answer. A replayed one was paid for before. */
export interface ChatResult {
  readonly answer: Answer
  readonly replayed: boolean
}

/**
 * Paid chat from end to end: plan, estimate, hold, provider, settle. The work runs in fibers of this service, not of the request. So a
 * client that disconnects can neither leave a hold open nor get an answer without paying. A complete answer is settled before its last
 * chunk is sent.
 */
export class Inference extends Context.Service<
  Inference,
  {
    readonly chat: (request: ChatRequest) => Effect.Effect<ChatResult, Failure>
    /**
     * Returns when the first content has arrived, or after `KeepAliveInterval` without content. A failure before that is an ordinary
     * error; a later one ends the stream.
     */
    readonly chatStream: (request: ChatRequest) => Effect.Effect<AnswerStream, Failure>
    /**
     * Returns the plan and the estimate with which the gateway would admit this request. The request itself may first try another provider
     * of its first model, to measure it, which does not change the hold.
     */
    readonly prepare: (request: Preparation) => Result.Result<PricedPlan, Failure>
  }
>()("tollgate/inference/Inference") {
  static readonly layerFrom = (options: InferenceOptions) =>
    Layer.effect(
      Inference,
      Effect.gen(function* () {
        const router = yield* Router
        const pool = yield* ProviderPool
        const images = yield* PromptImages
        const seeing = images.before(pool)
        const requests = yield* Requests
        const open = yield* makeOpenPipes
        const flow = yield* makePaidFlow(options)
        const metered = { ...flow.metered, seals: yield* ReasoningSeals }
        const { metrics } = metered
        const pins = new Pins()
        const prepare = makePrepare(router, pins, images, true)
        const { classifier } = options
        const classify = classifier && makeClassify({ router, pool, metrics }, classifier)
        const withModel: WithModel = { auth: metered.auth, classify, ledger: metered.ledger, pins, prepare, requests }
        const deps: PrepareDeps = {
          flow,
          pins,
          prepare,
          withModel,
          isServable: (model) => Result.isSuccess(router.plan({ ...plainRequest, models: [model] }))
        }

        const chat = (request: ChatRequest): Effect.Effect<ChatResult, Failure> =>
          Effect.suspend(() => {
            const running: ActiveCall = { stopsBillingOnAbort: true }
            const work = withPlan<ChatResult, ChatResult>(
              deps,
              request,
              (admitted) =>
                Effect.map(carryOutChat(metered, seeing, admitted, running), (answer) => ({ answer, replayed: false })),
              (answer) => ({ answer, replayed: true })
            )
            return flow.attended(work, running)
          })

        const chatStream = Effect.fnUntraced(function* (request: ChatRequest): Effect.fn.Return<AnswerStream, Failure> {
          const running: ActiveCall = { stopsBillingOnAbort: true }
          const opened = yield* Deferred.make<AnswerStream, Failure>()
          const pipe = new Pipe()
          const work = withPlan(
            deps,
            request,
            (admitted) => carryOutStream({ options: metered, pool: seeing, admitted, running, pipe, open, opened }),
            (answer) => Deferred.doneUnsafe(opened, Effect.succeed(replayedStream(answer)))
          ).pipe(Effect.onError((cause) => Deferred.failCause(opened, cause)))
          const fiber = yield* flow.run(work)
          const leave = Effect.suspend(() => {
            if (pipe.ended) return Effect.void
            pipe.leave()
            return flow.hangUp(fiber, running)
          })
          const stream = yield* Deferred.await(opened).pipe(Effect.onInterrupt(() => leave))
          return { ...stream, read: (take) => Effect.onExit(stream.read(take), () => leave) }
        })

        return Inference.of({ chat, chatStream, prepare: makePrepare(router, pins, images, false) })
      })
    )
}

/** A request that every provider of its model can serve. */
const plainRequest = {
  policy: defaultPolicy,
  needs: { vision: false, tools: false, parameters: [] },
  promptBound: 0,
  fits: () => true,
  promptTokens: () => 0,
  stream: false
}

/** The steps that every request passes before its plan. */
interface PrepareDeps {
  readonly flow: PaidFlow
  readonly isServable: (model: string) => boolean
  readonly pins: Pins
  readonly prepare: Inference["Service"]["prepare"]
  readonly withModel: WithModel
}

/** Plans a request and passes it to the flow of paid requests. */
const withPlan = <A, B>(
  deps: PrepareDeps,
  request: ChatRequest,
  carry: (admitted: AdmittedChat) => Effect.Effect<A, Failure>,
  again: (answer: Answer) => B
): Effect.Effect<A | B, Failure> => {
  const { flow, isServable, pins, prepare, withModel } = deps
  const anew = (principal: Principal) => withPlan(deps, withCurrentPrices(request, principal), carry, again)
  const carried = (admitted: AdmittedChat): Effect.Effect<A, Failure> => {
    const { decision } = admitted.plan
    if (decision !== undefined) {
      flow.metered.metrics.auto.classified(decision.classified_by)
      pins.pin({ accountId: request.principal.accountId, auto: request.auto }, admitted.plan, isServable)
    }
    return carry(admitted)
  }
  const enter = ({ estimate, plan }: PricedPlan): Effect.Effect<A | B, Failure> =>
    flow.enter({ request, plan, estimate }, carried, again, anew)
  const unplanned = (failed: Failure): Effect.Effect<B, Failure> => flow.unplanned(request, failed, again)
  return Effect.uninterruptible(
    Effect.suspend(() => {
      if (isAuto(request.chain)) {
        return Effect.matchEffect(prepareAuto(withModel, request), { onFailure: unplanned, onSuccess: enter })
      }
      const prepared = prepare(request)
      return Result.isFailure(prepared) ? unplanned(prepared.failure) : enter(prepared.success)
    })
  )
}

/** Sends a stored answer again as a stream. */
const replayedStream = (answer: Answer): AnswerStream => ({
  requestId: answer.requestId,
  created: answer.created,
  preset: answer.preset,
  replayed: true,
  read: (take) => {
    const pipe = new Pipe()
    pipe.push({ _tag: "Events", events: eventsOf(answer.output).filter(isContent) })
    pipe.end({ _tag: "End", answer })
    return pipe.read(take)
  }
})
