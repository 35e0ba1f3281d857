import { Effect } from "effect"
import {
  AccountLimits,
  AccountMarkup,
  AccountStateChange,
  type OperatorAccountResult
} from "../../../../schemas/operator/Accounts.ts"
import { Accounts, stateEvents } from "../../../account/Accounts.ts"
import type { AccountState } from "../../../account/AccountsSql.ts"
import { Keys } from "../../../account/Keys.ts"
import { Mutations } from "../../../account/Mutations.ts"
import { Auth } from "../../../auth/Auth.ts"
import { decoder } from "../../../dialects/Decode.ts"
import { failure } from "../../../domain/Failure.ts"
import { usdFromNano } from "../../../domain/Money.ts"
import { secondsOf } from "../../../domain/UnixTime.ts"
import type { AccountLine, BudgetLine, KeyLine } from "../../../operator/OperatorSql.ts"
import { Operator, type Overview } from "../../../operator/Operator.ts"
import type { ApiRequest } from "../../edge/ApiRequest.ts"
import { readJson } from "../../edge/Body.ts"
import { operations } from "../../edge/Operations.ts"
import { alreadyRevoked, answer, makeMutate, pageOf, withoutBody } from "../management/Answers.ts"
import { asOperator, conflicts } from "./Answers.ts"

const accountOf = (line: AccountLine) => ({
  id: line.id,
  object: "account" as const,
  email: line.email,
  state: line.state,
  state_reason: line.state_reason,
  balance_usd: usdFromNano(line.posted),
  held_usd: usdFromNano(line.held),
  play_balance_usd: usdFromNano(line.play),
  play_held_usd: usdFromNano(line.play_held),
  limit_scale: line.limit_scale,
  markup_basis_points: line.markup_bp,
  plan: line.plan_id === null ? null : { id: line.plan_id, name: line.plan_name ?? "" },
  created_at: secondsOf(line.created_at)
})

const budgetOf = (line: BudgetLine) => ({
  scope: line.scope,
  owner_id: line.owner_id,
  name: line.name,
  period: line.period,
  limit_usd: usdFromNano(line.limit_nano),
  spent_usd: usdFromNano(line.spent),
  held_usd: usdFromNano(line.held)
})

const wholeOf = (line: AccountLine, { budgets, counts, spent }: Overview): OperatorAccountResult => ({
  data: {
    ...accountOf(line),
    spent_30d_usd: usdFromNano(spent),
    open_requests: counts.open_requests,
    keys: { active: counts.active_keys, inactive: counts.inactive_keys },
    budgets: budgets.map(budgetOf)
  }
})

const keyOf = (line: KeyLine) => ({
  id: line.id,
  object: "key" as const,
  kind: line.kind,
  name: line.name,
  prefix: line.prefix,
  last4: line.last4,
  scopes: line.scopes,
  project_id: line.project_id,
  status: line.state,
  created_at: secondsOf(line.created_at),
  expires_at: secondsOf(line.expires_at),
  revoked_at: secondsOf(line.revoked_at)
})

const decodeLimits = decoder(AccountLimits, { strict: true })
const decodeMarkup = decoder(AccountMarkup, { strict: true })
const decodeChange = decoder(AccountStateChange, { strict: true })

/** The changes of an account's terms, each with a line in its audit log. */
const makeTerms = Effect.gen(function* () {
  const [accounts, auth, operator] = [yield* Accounts, yield* Auth, yield* Operator]
  const mutate = makeMutate(yield* Mutations)
  const writeOf = (id: string, request: ApiRequest, body: unknown, type: string) => ({
    request,
    body,
    type,
    resource: { type: "account", id },
    afterwards: Effect.sync(() => auth.forgetAccount(id))
  })

  const change = (to: AccountState) => (id: string, request: ApiRequest) =>
    Effect.gen(function* () {
      const body = yield* readJson(request)
      const { reason } = yield* Effect.fromResult(decodeChange(body))
      yield* operator.account(id)
      return yield* mutate(asOperator(id), writeOf(id, request, body, stateEvents[to]), ({ actor }) =>
        Effect.as(conflicts(accounts.setState({ id }, { to, reason, actor })), {
          data: { id, object: "account", state: to, reason }
        })
      )
    })

  const markUp = (id: string, request: ApiRequest) =>
    Effect.gen(function* () {
      const body = yield* readJson(request)
      const { markup_basis_points: points } = yield* Effect.fromResult(decodeMarkup(body))
      yield* operator.account(id)
      return yield* mutate(asOperator(id), writeOf(id, request, body, "account.markup_changed"), ({ actor }) =>
        Effect.as(accounts.setMarkup({ id }, points, actor), {
          data: { id, object: "account", markup_basis_points: points }
        })
      )
    })

  const limit = (id: string, request: ApiRequest) =>
    Effect.gen(function* () {
      const body = yield* readJson(request)
      const { limit_scale: scale } = yield* Effect.fromResult(decodeLimits(body))
      const account = yield* operator.account(id)
      return yield* mutate(asOperator(id), writeOf(id, request, body, "account.limits_changed"), ({ actor }) =>
        Effect.as(accounts.setLimitScale(account, scale, actor), {
          data: { id, object: "account", limit_scale: scale }
        })
      )
    })

  return { change, limit, markUp }
})

/** The end of an account's key, with a line in its audit log. */
const makeRevoke = Effect.gen(function* () {
  const [auth, keys, operator] = [yield* Auth, yield* Keys, yield* Operator]
  const mutate = makeMutate(yield* Mutations)
  return (accountId: string, id: string, request: ApiRequest) =>
    Effect.gen(function* () {
      yield* operator.account(accountId)
      const write = {
        request,
        type: "key.revoked",
        resource: { type: "key", id },
        afterwards: Effect.sync(() => auth.forget(id))
      }
      return yield* mutate(asOperator(accountId), write, ({ actor }) =>
        Effect.gen(function* () {
          for (const kind of ["inference", "management"] as const) {
            if (yield* keys.revoke(id, actor, { accountId, kind })) {
              return { data: { id, object: "key", status: "revoked" } }
            }
          }
          const found = yield* keys.findById(id)
          return yield* found?.account_id === accountId
            ? alreadyRevoked
            : failure({ _tag: "NotFound", what: "key", id })
        })
      )
    })
})

/** `/operator/accounts`. */
export const operatorAccountsHandlers = Effect.gen(function* () {
  const operator = yield* Operator
  const { change, limit, markUp } = yield* makeTerms
  const revoke = yield* makeRevoke
  return operations("operatorAccounts", {
    suspendAccount: ({ params, request }) => change("suspended")(params.account_id, request),
    resumeAccount: ({ params, request }) => change("active")(params.account_id, request),
    closeAccount: ({ params, request }) => change("closed")(params.account_id, request),
    setAccountMarkup: ({ params, request }) => markUp(params.account_id, request),
    setAccountLimits: ({ params, request }) => limit(params.account_id, request),

    listAccounts: ({ query: { search = null, state = null, ...query } }) => {
      const { cursor = null, limit } = pageOf(query)
      return answer(operator.accounts({ search, state, after: cursor, limit }), ({ next, rows }) => ({
        object: "list",
        data: rows.map(accountOf),
        next_cursor: next
      }))
    },
    getAccount: ({ params }) =>
      answer(
        Effect.gen(function* () {
          const line = yield* operator.account(params.account_id)
          return wholeOf(line, yield* operator.overview(line.id))
        }),
        (found) => found
      ),
    listAccountKeys: ({ params, query }) => {
      const { cursor = null, limit } = pageOf(query)
      const found = Effect.flatMap(operator.account(params.account_id), ({ id }) =>
        operator.keys(id, { after: cursor, limit })
      )
      return answer(found, ({ next, rows }) => ({ object: "list", data: rows.map(keyOf), next_cursor: next }))
    },
    revokeAccountKey: ({ params, request }) => withoutBody(request, revoke(params.account_id, params.key_id, request))
  })
})
