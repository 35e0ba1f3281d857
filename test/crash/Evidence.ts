/** The evidence of a run, as plain values. The auditor reads nothing else. */
import type { Nano } from "../../src/domain/Money.ts"

/** The life of a hold, short enough for a run to see holds expire. */
export const HOLD_TTL_MS = 8_000

/** The interval between two sweeps of a gateway, without jitter. */
export const SWEEP_MS = 1_000

/** How long a gateway accepts connections after SIGTERM: long enough for every client that has just connected to get an answer. */
export const SHUTDOWN_DELAY_MS = 1_000

/** The provider hosts of the scripted upstream. */
export const hosts = ["alpha", "beta"] as const
export type Host = (typeof hosts)[number]

export const dialects = ["chat", "messages", "responses"] as const
export type Dialect = (typeof dialects)[number]

/** How one host treats a call. `after` counts content chunks. */
export type Behaviour =
  | { readonly _tag: "Answer" }
  | { readonly _tag: "Status"; readonly status: number }
  | { readonly _tag: "Malformed" }
  /** The host closes the connection. */
  | { readonly _tag: "Break"; readonly after: number }
  /** The host sends nothing more until the gateway closes the connection. */
  | { readonly _tag: "Stall"; readonly after: number }

/** Tokens, as a provider reports them. */
export interface Usage {
  readonly prompt: number
  readonly completion: number
}

/** A chunk is one word of one or two tokens. Three keeps the tokens counted in a part below those reported for the whole. */
export const MAX_TOKENS_A_WORD = 3

/** One thing that a client wants, and how the upstream answers it. The client may need several attempts. */
export interface Operation {
  readonly id: string
  /** The name of the account. */
  readonly account: string
  readonly dialect: Dialect
  readonly model: string
  readonly stream: boolean
  readonly tools: boolean
  readonly maxTokens: number | undefined
  readonly idempotencyKey: string | undefined
  /** With an idempotency key: the client sends it twice at once, or again after the answer. */
  readonly repeat: "at once" | "afterwards" | undefined
  /** The client disconnects after this many content frames; with 0, before the response head. */
  readonly cutAfter: number | undefined
  readonly behaviour: Readonly<Record<Host, Behaviour>>
  readonly chunks: ReadonlyArray<string>
  /** The upstream's pause between two chunks. */
  readonly pauseMs: number
  /** The usage that the upstream reports with a complete answer; undefined when it reports none. */
  readonly reported: Usage | undefined
  /** An upper bound on the usage of any answer, complete or partial. */
  readonly atMost: Usage
}

/** The part of an answer that a client received. */
export interface ClientAnswer {
  readonly status: number
  /** `X-Request-ID` */
  readonly requestId: string
  readonly retryAfter: string | undefined
  readonly replayed: boolean
  /** The error code of the body, or of an error frame in the stream. */
  readonly code: string | undefined
  /** The answer is complete: the entire body, or a stream to its dialect's last frame, without an error. */
  readonly complete: boolean
  /** Text, or the arguments of a tool call. */
  readonly content: string
  /** When the last content arrived, in Unix milliseconds. */
  readonly contentAt: number | undefined
  /** `request_id` in the answer. A replay carries the first request's. */
  readonly answerId: string | undefined
  readonly cost: Nano | undefined
}

/** How one attempt ended for the client. */
export type Outcome =
  | { readonly _tag: "Answered"; readonly answer: ClientAnswer }
  /** The client disconnected. */
  | { readonly _tag: "Cut"; readonly answer: ClientAnswer | undefined }
  /** The gateway's port refused the connection. */
  | { readonly _tag: "Refused" }
  /** The connection broke. */
  | { readonly _tag: "Lost"; readonly answer: ClientAnswer | undefined }
  /** The client timed out. */
  | { readonly _tag: "Silent" }

/** One HTTP request of a client. Its trace id finds its receipt, even when the client received nothing. */
export interface Attempt {
  readonly operation: string
  readonly traceId: string
  readonly gateway: number
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome
}

/** One request of a client for its newest receipts. */
export interface ReceiptsRead {
  readonly gateway: number
  readonly startedAt: number
  readonly endedAt: number
  readonly status: number
  readonly retryAfter: string | undefined
}

/** One call from a gateway to a host of the upstream. */
export interface Call {
  readonly operation: string
  readonly host: Host
  /** Content chunks that the host wrote. */
  readonly sent: number
  /** The host wrote its entire answer. */
  readonly complete: boolean
}

/** A receipt from the API, with amounts in nano-USD, and three columns of its row that the API does not show. */
export interface Receipt {
  readonly id: string
  readonly account: string
  readonly traceId: string | undefined
  readonly idempotencyKey: string | undefined
  readonly status: string
  readonly basis: string
  readonly errorCode: string | undefined
  readonly held: Nano
  readonly settled: Nano
  readonly absorbed: Nano
  readonly refunded: Nano
  /** The cost that the gateway had recorded while the request was open. */
  readonly progress: Nano
  /** When the hold expires and when the request closed, by the database's clock in Unix milliseconds. */
  readonly expiresAt: number | undefined
  readonly closedAt: number | undefined
  /** Rates in pico-USD a token. */
  readonly price: { readonly input: bigint; readonly output: bigint } | undefined
}

/** An account at the end of a run. */
export interface AccountState {
  readonly name: string
  readonly credited: Nano
  readonly posted: Nano
  readonly held: Nano
  /** Open requests. */
  readonly open: number
  /** The key's budget, whose limit is the account's credit. `notified` lists the thresholds, in percent, that have an event. */
  readonly budget: { readonly spent: Nano; readonly limit: Nano; readonly notified: ReadonlyArray<number> }
  /** The account's usage report: closed requests and their cost. */
  readonly usage: { readonly requests: number; readonly cost: Nano }
}

/** A period in which the database or a gateway was away, in Unix milliseconds. */
export interface Outage {
  readonly from: number
  /** Infinity while the outage lasts. */
  readonly to: number
  /** Whether some transactions committed during the outage. */
  readonly commits?: boolean
}

/** A stop of a gateway by SIGTERM and its next start. */
export interface Deploy extends Outage {
  /** The exit code or the signal that ended the process; undefined while it runs. */
  readonly exit: number | string | undefined
}

/** The outages of one gateway, by cause. */
export interface GatewayOutages {
  /** From SIGKILL until the gateway serves again. */
  readonly kills: ReadonlyArray<Outage>
  /** From SIGSTOP to SIGCONT. */
  readonly pauses: ReadonlyArray<Outage>
  /** Its connections to the database carry nothing. */
  readonly partitions: ReadonlyArray<Outage>
  /** From SIGTERM until the gateway serves again. */
  readonly deploys: ReadonlyArray<Deploy>
}

export const NO_OUTAGES: GatewayOutages = { kills: [], pauses: [], partitions: [], deploys: [] }

/** A webhook delivery that the endpoint received. */
export interface ReceivedWebhook {
  readonly event: string
  /** The signature is valid. */
  readonly verified: boolean
  /** The endpoint answered 200. */
  readonly accepted: boolean
  /** In Unix milliseconds. */
  readonly at: number
}

/** The videos of a run: the client's submissions, the jobs, and their webhooks. */
export interface VideoEvidence {
  readonly submissions: ReadonlyArray<{
    readonly key: string
    /** Undefined without an answer. */
    readonly status: number | undefined
    readonly id: string | undefined
  }>
  readonly jobs: ReadonlyArray<{
    readonly id: string
    readonly state: string
    readonly charged: Nano
    readonly cost: Nano | null
    readonly events: number
    readonly delivered: number
  }>
  readonly webhooks: ReadonlyArray<ReceivedWebhook>
  readonly credited: Nano
  readonly posted: Nano
}

/** Everything that the harness knows about a run at its end. */
export interface Evidence {
  readonly operations: ReadonlyArray<Operation>
  readonly attempts: ReadonlyArray<Attempt>
  readonly receiptReads: ReadonlyArray<ReceiptsRead>
  readonly calls: ReadonlyArray<Call>
  readonly receipts: ReadonlyArray<Receipt>
  readonly accounts: ReadonlyArray<AccountState>
  readonly videos: VideoEvidence
  /** Outages of the database. */
  readonly outages: ReadonlyArray<Outage>
  /** When the database's disk was slow. */
  readonly slows: ReadonlyArray<Outage>
  /** By the gateway's number. */
  readonly gateways: ReadonlyArray<GatewayOutages>
  /** Failed checks of `ledger verify`. */
  readonly failedChecks: ReadonlyArray<string>
}
