/** What the parties of a run note down, as plain values: the auditor sees nothing else of them. */
import type { Nano } from "../../src/domain/Money.ts"

/** Holds end soon after their process, so that a run sees them end. */
export const HOLD_TTL_MS = 8_000

/** Between two sweeps of a gateway, without their jitter. */
export const SWEEP_MS = 1_000

/** A gateway that is told to stop serves on for so long: enough for every client that has just connected to be heard. */
export const SHUTDOWN_DELAY_MS = 1_000

/** The hosts that the scripted upstream plays. */
export const hosts = ["alpha", "beta"] as const
export type Host = (typeof hosts)[number]

/** The wire formats in which clients ask. */
export const dialects = ["chat", "messages", "responses"] as const
export type Dialect = (typeof dialects)[number]

/** How one host treats a call. `after` counts content chunks. */
export type Behaviour =
  | { readonly _tag: "Answer" }
  | { readonly _tag: "Status"; readonly status: number }
  | { readonly _tag: "Malformed" }
  /** Breaks the connection off. */
  | { readonly _tag: "Break"; readonly after: number }
  /** Says nothing more until the other side hangs up. */
  | { readonly _tag: "Stall"; readonly after: number }

/** Tokens as a provider of OpenAI's wire counts them. */
export interface Usage {
  readonly prompt: number
  readonly completion: number
}

/** A chunk is a word, which is a token or two; so what is counted of a part is never more than what is reported of the whole. */
export const MOST_TOKENS_A_WORD = 3

/** One thing a client wants, however often it has to ask for it; the upstream answers by it. */
export interface Ask {
  readonly id: string
  /** The account that asks, by its name in the run. */
  readonly account: string
  readonly dialect: Dialect
  readonly model: string
  readonly stream: boolean
  readonly tools: boolean
  readonly maxTokens: number | undefined
  readonly idempotencyKey: string | undefined
  /** Under a key: whether it is sent twice at once, or again when it has been answered. */
  readonly repeat: "at once" | "afterwards" | undefined
  /** The client hangs up after so many content frames; 0 is before the head of the answer. */
  readonly cutAfter: number | undefined
  readonly behaviour: Readonly<Record<Host, Behaviour>>
  readonly chunks: ReadonlyArray<string>
  /** Between two chunks of the upstream. */
  readonly pauseMs: number
  /** What the upstream reports of a whole answer; absent, it reports nothing. */
  readonly reported: Usage | undefined
  /** No answer to this ask, whole or in part, used more. */
  readonly atMost: Usage
}

/** What a client saw of one answer. */
export interface Seen {
  readonly status: number
  /** `X-Request-ID` */
  readonly requestId: string
  readonly retryAfter: string | undefined
  readonly replayed: boolean
  /** Of an error body, or of the error frame of a stream. */
  readonly code: string | undefined
  /** All of the answer came, and it is one: the whole body, or the last frame of its dialect and no error before it. */
  readonly whole: boolean
  /** Text, or the arguments of a tool call. */
  readonly content: string
  /** When the last piece of content arrived, in Unix milliseconds. */
  readonly contentAt: number | undefined
  /** `request_id` of the answer itself, which for a replay is that of the first. */
  readonly answerId: string | undefined
  readonly cost: Nano | undefined
}

/** How one try ended, for the client. */
export type Ending =
  | { readonly _tag: "Answered"; readonly seen: Seen }
  /** The client hung up. */
  | { readonly _tag: "Cut"; readonly seen: Seen | undefined }
  /** Nobody took the connection. */
  | { readonly _tag: "Refused" }
  /** The connection broke. */
  | { readonly _tag: "Lost"; readonly seen: Seen | undefined }
  /** Nothing came for longer than a client waits. */
  | { readonly _tag: "Silent" }

/** One request of a client. The trace id finds its receipt, also where nothing of the answer was seen. */
export interface Try {
  readonly ask: string
  readonly traceId: string
  readonly gateway: number
  readonly startedAt: number
  readonly endedAt: number
  readonly ending: Ending
}

/** One look of a client at its receipts. */
export interface Reading {
  readonly gateway: number
  readonly startedAt: number
  readonly endedAt: number
  readonly status: number
  readonly retryAfter: string | undefined
}

/** What the upstream did for one call. */
export interface Call {
  readonly ask: string
  readonly host: Host
  /** Content chunks written. */
  readonly sent: number
  /** Everything was written, to its end. */
  readonly whole: boolean
}

/** A receipt as the API gives it, its amounts in nano-USD, and what only its row says. */
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
  /** What the request had recorded as used before it ended. */
  readonly progress: Nano
  /** Until when its hold lived, and when it ended, by the database's clock in Unix milliseconds. */
  readonly expiresAt: number | undefined
  readonly closedAt: number | undefined
  /** Rates in pico-USD a token. */
  readonly price: { readonly input: bigint; readonly output: bigint } | undefined
}

/** An account at the end of a run. */
export interface Books {
  readonly name: string
  /** All that was ever put in. */
  readonly credited: Nano
  readonly posted: Nano
  readonly held: Nano
  /** Requests still open. */
  readonly open: number
  /** Spent of its key's budget, which is as much as was put in at first; and the thresholds that were told of that, in percent. */
  readonly budget: { readonly spent: Nano; readonly limit: Nano; readonly told: ReadonlyArray<number> }
  /** What is told of its use: requests that ended, and what they cost. */
  readonly used: { readonly requests: number; readonly cost: Nano }
}

/** A time during which the database was away, or a gateway, in Unix milliseconds. */
export interface Outage {
  readonly from: number
  /** Infinite for one that goes on. */
  readonly to: number
  /** Whether some of what was sent meanwhile committed. */
  readonly commits?: boolean
}

/** A stop of a gateway by SIGTERM and its next start. */
export interface Deploy extends Outage {
  /** The exit code of the process, or the signal that ended it; undefined for one that goes on. */
  readonly exit: number | string | undefined
}

/** When a gateway was away, and in which way. */
export interface Troubles {
  /** From SIGKILL until it served again. */
  readonly deaths: ReadonlyArray<Outage>
  /** From SIGSTOP to SIGCONT. */
  readonly pauses: ReadonlyArray<Outage>
  /** Its connections to the database passed nothing on. */
  readonly partitions: ReadonlyArray<Outage>
  /** From SIGTERM until it served again. */
  readonly deploys: ReadonlyArray<Deploy>
}

export const NO_TROUBLES: Troubles = { deaths: [], pauses: [], partitions: [], deploys: [] }

/** A message as the endpoint had it, and whether it said that it has. */
export interface Told {
  readonly event: string
  readonly verified: boolean
  readonly accepted: boolean
  /** In Unix milliseconds. */
  readonly at: number
}

/** The videos of a run: each try to hand one in, what became of them, and what was told of that. */
export interface VideoNotes {
  readonly handed: ReadonlyArray<{
    readonly key: string
    /** Undefined where nothing came back. */
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
  readonly told: ReadonlyArray<Told>
  readonly credited: Nano
  readonly posted: Nano
}

/** All that is known of a run when it is over. */
export interface Evidence {
  readonly asks: ReadonlyArray<Ask>
  readonly tries: ReadonlyArray<Try>
  readonly readings: ReadonlyArray<Reading>
  readonly calls: ReadonlyArray<Call>
  readonly receipts: ReadonlyArray<Receipt>
  readonly books: ReadonlyArray<Books>
  readonly videos: VideoNotes
  /** Of the database. */
  readonly outages: ReadonlyArray<Outage>
  /** When the database's disk was slow. */
  readonly slows: ReadonlyArray<Outage>
  /** Of each gateway, by its number. */
  readonly gateways: ReadonlyArray<Troubles>
  /** Checks of `ledger verify` that failed. */
  readonly faults: ReadonlyArray<string>
}
