import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { OperatorAccess } from "../Access.ts"
import { ConflictError, IdempotencyError, NotFoundError } from "../Errors.ts"
import { ResourceId } from "../Ids.ts"
import { ResourcePage } from "../Page.ts"
import { idempotency } from "../inference/ChatGroup.ts"
import { KeyRevoked } from "../management/Keys.ts"
import { operation } from "../Operation.ts"
import {
  AccountLimits,
  AccountLimitsResult,
  AccountMarkup,
  AccountMarkupResult,
  AccountStateChange,
  AccountStateResult,
  OperatorAccountList,
  OperatorAccountQuery,
  OperatorAccountResult,
  OperatorKeyList
} from "./Accounts.ts"
import { reads, writes } from "./Limits.ts"

/** The account that an operation is about. */
export const ofAccount = {
  /** The id of an account. */
  account_id: ResourceId
}

const change = {
  params: ofAccount,
  headers: idempotency,
  payload: AccountStateChange,
  success: AccountStateResult,
  error: [NotFoundError, ConflictError, IdempotencyError]
} as const

/** All accounts, their states and their keys. */
export class OperatorAccountsGroup extends HttpApiGroup.make("operatorAccounts")
  .add(
    HttpApiEndpoint.get("listAccounts", "/operator/accounts", {
      query: OperatorAccountQuery,
      success: OperatorAccountList
    }).annotateMerge(operation("operator.accounts.list", "List or search accounts, newest first", reads)),
    HttpApiEndpoint.get("getAccount", "/operator/accounts/:account_id", {
      params: ofAccount,
      success: OperatorAccountResult,
      error: NotFoundError
    }).annotateMerge(
      operation("operator.accounts.get", "Retrieve an account with its money, spending, keys and budgets", reads)
    ),
    HttpApiEndpoint.post("suspendAccount", "/operator/accounts/:account_id/suspend", change).annotateMerge(
      operation("operator.accounts.suspend", "Stop an account at once on every node; running requests finish", writes)
    ),
    HttpApiEndpoint.post("resumeAccount", "/operator/accounts/:account_id/resume", change).annotateMerge(
      operation("operator.accounts.resume", "Let a suspended account work again", writes)
    ),
    HttpApiEndpoint.post("closeAccount", "/operator/accounts/:account_id/close", change).annotateMerge(
      operation("operator.accounts.close", "Close an account for good and revoke its keys; its books stay", writes)
    ),
    HttpApiEndpoint.patch("setAccountMarkup", "/operator/accounts/:account_id/markup", {
      params: ofAccount,
      payload: AccountMarkup,
      success: AccountMarkupResult,
      error: NotFoundError
    }).annotateMerge(
      operation(
        "operator.accounts.markup",
        "Set what an account pays beyond the catalogue's prices; running requests keep their price",
        writes
      )
    ),
    HttpApiEndpoint.patch("setAccountLimits", "/operator/accounts/:account_id/limits", {
      params: ofAccount,
      payload: AccountLimits,
      success: AccountLimitsResult,
      error: NotFoundError
    }).annotateMerge(
      operation("operator.accounts.limits", "Multiply the rate limits of an account, within 30 seconds", writes)
    ),
    HttpApiEndpoint.get("listAccountKeys", "/operator/accounts/:account_id/keys", {
      params: ofAccount,
      query: ResourcePage,
      success: OperatorKeyList,
      error: NotFoundError
    }).annotateMerge(operation("operator.keys.list", "List the keys of an account, newest first", reads)),
    HttpApiEndpoint.delete("revokeAccountKey", "/operator/accounts/:account_id/keys/:key_id", {
      params: {
        ...ofAccount,
        /** The id of a key. */
        key_id: ResourceId
      },
      success: KeyRevoked,
      error: [NotFoundError, ConflictError]
    }).annotateMerge(operation("operator.keys.revoke", "Revoke a key of an account immediately", writes))
  )
  .middleware(OperatorAccess) {}
