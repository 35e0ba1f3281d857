/** Settings that belong together, each of somebody whom the service works with. */
import type { Redacted } from "effect"
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
