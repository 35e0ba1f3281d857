import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { AccountPlan, type Plan, PlanChange, PlanCreate } from "../../../../schemas/operator/Plans.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Plans } from "../../../account/Plans.ts"
import { limitsOf, planWire, priceProblem } from "../../../account/PlanFacts.ts"
import { Auth } from "../../../auth/Auth.ts"
import { Catalogue } from "../../../catalogue/Catalogue.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { failure, invalid } from "../../../domain/Failure.ts"
import { Operator } from "../../../operator/Operator.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"
import { readJson } from "../../edge/Body.ts"
import { operations } from "../../edge/Operations.ts"
import { answer, makeMutate, withoutBody } from "../management/Answers.ts"
import { asActor, asOperator } from "./Answers.ts"

const decodeCreate = decoder(PlanCreate, { strict: true })
const decodeChange = decoder(PlanChange, { strict: true })
const decodeAccountPlan = decoder(AccountPlan, { strict: true })

/** Fails with `ValidationError` for a price of a model that the catalogue does not price in that way. */
const makeCheck = Effect.map(Catalogue, (catalogue) => (prices: Plan["prices"] = []) => {
  const problem = priceProblem(prices, (id) => {
    const current = catalogue.current()
    const model = current.find(id)
    return model === undefined || model.virtual ? undefined : (current.preferredOffer(model)?.price?.unit ?? "none")
  })
  return problem === undefined ? Effect.void : Effect.asVoid(invalid(problem.field, problem.message))
})

/** `/operator/plans`, and the plan of an account. */
export const operatorPlansHandlers = Effect.gen(function* () {
  const [auth, operator, plans] = [yield* Auth, yield* Operator, yield* Plans]
  const mutate = makeMutate(yield* Mutations)
  const check = yield* makeCheck

  const create = (request: ApiRequest) =>
    Effect.gen(function* () {
      const wire = yield* Effect.fromResult(decodeCreate(yield* readJson(request)))
      const { limits = {}, markup_basis_points: markup = 0, name, prices = [] } = wire
      yield* check(prices)
      const facts = { name: name.trim(), markup_bp: markup, prices, ...limitsOf(limits, undefined) }
      return HttpServerResponse.jsonUnsafe({ data: planWire(yield* plans.create(facts, yield* asActor)) })
    })

  const change = (id: string, request: ApiRequest) =>
    Effect.gen(function* () {
      const wire = yield* Effect.fromResult(decodeChange(yield* readJson(request)))
      const { limits = {}, markup_basis_points: markup, name, prices } = wire
      yield* check(prices)
      const before = yield* plans.find(id)
      const changes = {
        ...(name === undefined ? {} : { name: name.trim() }),
        ...(markup === undefined ? {} : { markup_bp: markup }),
        ...(prices === undefined ? {} : { prices }),
        ...limitsOf(limits, before)
      }
      const changed = yield* plans.change(id, changes, yield* asActor)
      auth.forgetAll()
      return HttpServerResponse.jsonUnsafe({ data: planWire(changed) })
    })

  const assign = (accountId: string, request: ApiRequest) =>
    Effect.gen(function* () {
      const body = yield* readJson(request)
      const { plan_id: planId } = yield* Effect.fromResult(decodeAccountPlan(body))
      yield* operator.account(accountId)
      const write = {
        request,
        body,
        type: "account.plan_changed",
        resource: { type: "account", id: accountId },
        afterwards: Effect.sync(() => auth.forgetAccount(accountId))
      }
      return yield* mutate(asOperator(accountId), write, ({ actor }) =>
        Effect.as(plans.assign({ id: accountId }, planId, actor), {
          data: { id: accountId, object: "account", plan_id: planId }
        })
      )
    })

  return operations("operatorPlans", {
    listPlans: () => answer(plans.list, (rows) => ({ object: "list", data: rows.map(planWire) })),
    createPlan: ({ request }) => create(request),
    getPlan: ({ params }) => answer(byId(plans, params.plan_id), (row) => ({ data: planWire(row) })),
    setPlan: ({ params, request }) => change(params.plan_id, request),
    removePlan: ({ params, request }) =>
      withoutBody(
        request,
        Effect.gen(function* () {
          yield* plans.remove(params.plan_id, yield* asActor)
          return HttpServerResponse.jsonUnsafe({ data: { id: params.plan_id, object: "plan", deleted: true } })
        })
      ),
    setAccountPlan: ({ params, request }) => assign(params.account_id, request)
  })
})

/** The name of one plan may look like the ID of another. */
const byId = (plans: Plans["Service"], id: string) =>
  Effect.flatMap(plans.find(id), (row) =>
    row.id === id ? Effect.succeed(row) : Effect.fail(failure({ _tag: "NotFound", what: "plan", id }))
  )
