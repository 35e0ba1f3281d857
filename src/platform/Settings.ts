/** What the settings are; `Config.ts` decodes them. */
import type { Duration, Effect, LogLevel, Redacted } from "effect"
import type { BlockList } from "node:net"
import type { StartError } from "./Config.ts"
import type { Sampler } from "./Tracing.ts"

/** Address and key of one provider; a provider without a key is not available. */
export interface ProviderSettings {
  readonly apiKey: Redacted.Redacted | undefined
  /** http or https. Absent: the adapter's own address. */
  readonly baseUrl: URL | undefined
}

/** A bucket of an S3-compatible store, and who may use it. */
export interface S3Settings {
  /** http or https, without a path. */
  readonly endpoint: URL
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  /** Whether the bucket stands in the path; else it stands before the host. */
  readonly pathStyle: boolean
}

/** Who takes letters to be delivered, and in whose name they are written. */
export interface MailSettings {
  /** smtp or smtps; it may hold a password. */
  readonly url: Redacted.Redacted
  readonly from: string
}

/** A service of Twilio Verify, and who may use it. */
export interface TwilioSettings {
  readonly accountSid: string
  readonly authToken: Redacted.Redacted
  readonly serviceSid: string
  /** http or https. */
  readonly baseUrl: URL
}

/** An account at Stripe. */
export interface StripeSettings {
  readonly secretKey: Redacted.Redacted
  /** What its events are signed with. */
  readonly webhookSecret: Redacted.Redacted
  /** http or https, without a path. Absent: Stripe's own address. */
  readonly baseUrl: URL | undefined
}

/** What is told of the running service, and to whom. */
export interface TelemetrySettings {
  /** Where OTLP over HTTP is taken, `/v1/traces` and the like beneath it. Absent: nothing is exported. */
  readonly endpoint: URL | undefined
  /** Sent with every export; they may hold a key. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly serviceName: string
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: Sampler
  /** Ids of the providers that are told of the trace a call belongs to. */
  readonly contextTo: ReadonlyArray<string>
}

/** Every setting of the service, decoded and checked. */
export interface Settings {
  readonly http: {
    readonly host: string
    readonly port: number
    /** Peers whose forwarding headers are believed. Empty: nobody's. */
    readonly trustedProxies: BlockList
    /** Where callers reach the service, without a slash at its end. Absent: this machine, by the port it listens on. */
    readonly publicUrl: string | undefined
  }
  readonly ops: { readonly host: string; readonly port: number }
  readonly data: {
    /** Absolute. Where it cannot be used as it stands, `DataDirectory` has the path that is. */
    readonly directory: string
    /** Whether DATA_DIR was set, so that no other place may be chosen in its stead. */
    readonly explicit: boolean
  }
  readonly files: {
    /** How long pictures and clips are kept. */
    readonly retention: Duration.Duration
    /** Absent: files are kept in the data directory. */
    readonly s3: S3Settings | undefined
  }
  readonly database: {
    /** Absent: the embedded server. */
    readonly url: Redacted.Redacted | undefined
    readonly poolSize: number
  }
  /** What secrets in the database are sealed with. Absent: a key in a file of the data directory. */
  readonly secretsKey: Redacted.Redacted | undefined
  /** Absent: nobody is written to; a sandbox writes letters into its log instead. */
  readonly mail: MailSettings | undefined
  /** Absent: no telephone is verified; a sandbox writes codes into its log instead. */
  readonly twilio: TwilioSettings | undefined
  /** Absent: limits, cached answers and breakers are kept in memory, for one node. */
  readonly redisUrl: Redacted.Redacted | undefined
  /** Whether providers without a key are served by simulated doubles. */
  readonly sandbox: boolean
  /** Absent: payments are simulated in the sandbox, and not taken outside of it. */
  readonly stripe: StripeSettings | undefined
  readonly providers: {
    readonly openai: ProviderSettings
    readonly anthropic: ProviderSettings
    readonly gemini: ProviderSettings
    readonly voyage: ProviderSettings
    readonly tavily: ProviderSettings
    readonly fal: ProviderSettings
    readonly xai: ProviderSettings
    /** Absolute path of the list of further OpenAI-compatible hosts. */
    readonly file: string | undefined
    /** Reads the variable that such a host names as the place of its key. */
    readonly keyFrom: (variable: string) => Effect.Effect<Redacted.Redacted | undefined, StartError>
  }
  readonly routing: {
    /** Whether requests for low latency may be sent to a second provider while the first is silent. */
    readonly latencyHedge: boolean
  }
  /** Absolute path of the operator's changes to the catalogue. */
  readonly catalogueFile: string | undefined
  /** Multiplies every rate limit. */
  readonly rateLimitScale: number
  readonly outbound: { readonly allowLoopback: boolean }
  /** How long a hold lives without being settled or renewed. */
  readonly holdTtl: Duration.Duration
  readonly upstream: {
    readonly connectTimeout: Duration.Duration
    readonly firstTokenTimeout: Duration.Duration
    readonly idleTimeout: Duration.Duration
    readonly totalTimeout: Duration.Duration
  }
  /** Who classifies requests to `svc/auto` that the rules leave open. */
  readonly autoClassifier: {
    /** Absent: nobody. */
    readonly model: string | undefined
    readonly timeout: Duration.Duration
  }
  /** How long an upstream answer is still read after its client has gone. */
  readonly clientDrain: Duration.Duration
  /** How long requests under way may take to finish once the service is told to stop. */
  readonly shutdownGrace: Duration.Duration
  readonly sweepInterval: Duration.Duration
  readonly videos: {
    /** What is not made so long after it was submitted has failed. */
    readonly deadline: Duration.Duration
    /** Video jobs that one provider may have at a time, from all nodes. */
    readonly perProvider: number
  }
  readonly log: { readonly level: LogLevel.LogLevel; readonly format: "json" | "pretty" }
  readonly telemetry: TelemetrySettings
}
