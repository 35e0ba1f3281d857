import { Context } from "effect"
import type { PriceTerms } from "../../../schemas/Access.ts"
import type { PresetUse } from "../../domain/Answer.ts"
import type { Span } from "../../platform/telemetry/Tracing.ts"
import type { Verdict } from "../../ratelimit/Store.ts"
import type { AccessLine } from "./AccessLog.ts"
import type { RequestLabels } from "./RequestObserver.ts"

/** The form of an operation's errors: the standard envelope, that of the legacy routes, Anthropic's, or JSON-RPC's. */
export type ErrorForm = "standard" | "legacy" | "messages" | "rpc"

/** The edge's facts about the running request and its response. */
export interface Exchange {
  readonly requestId: string
  /** `performance.now()` at its arrival. */
  readonly arrivedAt: number
  /** The client's address; behind trusted proxies the one they report. */
  readonly address: () => string
  /** Whether a trusted proxy reports that the client used https. */
  readonly byHttps: () => boolean
  /** The rate limit that it was counted against. */
  verdict: Verdict | undefined
  /** What the account pays whose key a public read sends. */
  terms?: PriceTerms | undefined
  /** The preset that it uses. */
  preset: PresetUse | undefined
  /** The error form of the operation, once the operation is known. */
  errors: ErrorForm
  /** Headers that the check of a credential adds to the response, whatever its status. */
  added: Readonly<Record<string, string>> | undefined
  /** Undefined unless its trace is recorded. */
  readonly span: Span | undefined
  /** What the metrics say about it. */
  readonly labels: RequestLabels
  /** Undefined unless an access log is written. */
  readonly line: AccessLine | undefined
}

/** The exchange of the running request. */
export const Exchange = Context.Reference<Exchange>("tollgate/http/Exchange", {
  defaultValue: () => ({
    requestId: "",
    arrivedAt: 0,
    address: () => "unknown",
    byHttps: () => false,
    verdict: undefined,
    preset: undefined,
    errors: "standard",
    added: undefined,
    span: undefined,
    labels: { route: undefined, error: undefined },
    line: undefined
  })
})
