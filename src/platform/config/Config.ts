import { ConfigProvider, Context, type Duration, Effect, Layer, Record, Redacted } from "effect"
import type { LogLevel } from "effect"
import type { BlockList } from "node:net"
import { resolve } from "node:path"
import { keyVariables } from "./ProvidersFile.ts"
import { readValues, type Values } from "./SettingsTable.ts"
import { telemetryOf, type TelemetrySettings } from "../telemetry/TelemetrySettings.ts"
import { read, secret, StartError } from "./Variables.ts"

/** The address and key of one provider. A provider without a key is unavailable. */
export interface ProviderSettings {
  readonly apiKey: Redacted.Redacted | undefined
  /** An http or https URL. Absent: the adapter's default address. */
  readonly baseUrl: URL | undefined
}

/** A bucket of an S3-compatible store, with its credentials. */
export interface S3Settings {
  /** http or https, without a path. */
  readonly endpoint: URL
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  /** Whether the bucket name is part of the path (`host/bucket`) or of the host name (`bucket.host`). */
  readonly pathStyle: boolean
}

/** The mail server and the sender of outgoing mail. */
export interface MailSettings {
  /** An smtp or smtps URL, which may contain a password. */
  readonly url: Redacted.Redacted
  readonly from: string
}

/** A Twilio Verify service, with its credentials. */
export interface TwilioSettings {
  readonly accountSid: string
  readonly authToken: Redacted.Redacted
  readonly serviceSid: string
  /** http or https. */
  readonly baseUrl: URL
}

/** A Stripe account. */
export interface StripeSettings {
  readonly secretKey: Redacted.Redacted
  /** The secret with which Stripe signs its events. */
  readonly webhookSecret: Redacted.Redacted
  /** http or https, without a path. Absent: Stripe's own address. */
  readonly baseUrl: URL | undefined
}

/** All settings of the service, decoded and validated. */
export interface Settings {
  readonly http: {
    readonly host: string
    readonly port: number
    /** Peers with trusted forwarding headers. Empty: none. */
    readonly trustedProxies: BlockList
    /**
     * The base URL at which clients reach the service, without a trailing slash. Absent: `http://localhost` with the listening port.
     */
    readonly publicUrl: string | undefined
  }
  readonly ops: { readonly host: string; readonly port: number }
  readonly data: {
    /** An absolute path. When the service cannot use it, `DataDirectory` provides the path it uses instead. */
    readonly directory: string
    /** Whether the operator set DATA_DIR. If so, the service does not fall back to another directory. */
    readonly explicit: boolean
  }
  readonly files: {
    /** How long images and videos are kept. */
    readonly retention: Duration.Duration
    /** Absent: files are kept in the data directory. */
    readonly s3: S3Settings | undefined
  }
  readonly retention: {
    readonly webhooks: Duration.Duration
    /** Zero: sessions are kept. */
    readonly sessions: Duration.Duration
  }
  readonly database: {
    /** Absent: the service starts the embedded server. */
    readonly url: Redacted.Redacted | undefined
    /** Whether a start brings the schema up to date; otherwise it only checks it. */
    readonly migrates: boolean
    readonly poolSize: number
  }
  /** The key that encrypts secrets in the database. Absent: the service keeps a key file in the data directory. */
  readonly secretsKey: Redacted.Redacted | undefined
  /** Absent: no mail is sent; a sandbox writes it to its log instead. */
  readonly mail: MailSettings | undefined
  /** Absent: phone numbers cannot be verified; a sandbox writes codes to its log instead. */
  readonly twilio: TwilioSettings | undefined
  /** How many codes all nodes together may send to phones in 24 hours. */
  readonly phoneCodesPerDay: number
  /** Absent: each node keeps rate limits, cached answers and breakers in its own memory. */
  readonly redisUrl: Redacted.Redacted | undefined
  /** Whether simulated doubles serve the providers that have no key. */
  readonly sandbox: boolean
  /** Whether it is a sandbox without any provider's key, so that no money buys a real answer. */
  readonly allSimulated: boolean
  /** Absent: a sandbox simulates payments; outside of a sandbox, the service takes none. */
  readonly stripe: StripeSettings | undefined
  readonly providers: {
    readonly openai: ProviderSettings
    readonly anthropic: ProviderSettings
    readonly gemini: ProviderSettings
    readonly voyage: ProviderSettings
    readonly tavily: ProviderSettings
    readonly fal: ProviderSettings
    readonly xai: ProviderSettings
    /** Absolute path of the file that lists additional OpenAI-compatible hosts. */
    readonly file: string | undefined
    /** Reads the environment variable that a host of that file names as the source of its key. */
    readonly keyFrom: (variable: string) => Effect.Effect<Redacted.Redacted | undefined, StartError>
  }
  readonly routing: {
    /** Whether a low-latency request may be sent to a second provider while the first has not answered. */
    readonly latencyHedge: boolean
  }
  /** Absolute path of the operator's catalogue changes. */
  readonly catalogueFile: string | undefined
  /** Multiplies every rate limit. */
  readonly rateLimitScale: number
  /** The maximum number of messages in a request. */
  readonly maxMessages: number
  readonly outbound: { readonly allowLoopback: boolean }
  /** How long a hold lives before it expires, unless it is settled or renewed. */
  readonly holdTtl: Duration.Duration
  readonly upstream: {
    readonly connectTimeout: Duration.Duration
    readonly firstTokenTimeout: Duration.Duration
    readonly idleTimeout: Duration.Duration
    readonly totalTimeout: Duration.Duration
  }
  /** The model that classifies `svc/auto` requests which the rules leave undecided. */
  readonly autoClassifier: {
    /** Absent: no classifier; the rules decide. */
    readonly model: string | undefined
    readonly timeout: Duration.Duration
  }
  /** How long the gateway keeps reading an upstream response after the client has disconnected. */
  readonly clientDrain: Duration.Duration
  /**
   * How long a stopping service still serves requests. It already reports that it is not ready and closes connections after each
   * response.
   */
  readonly shutdownDelay: Duration.Duration
  /** How long running requests may take to finish after that. */
  readonly shutdownGrace: Duration.Duration
  readonly sweepInterval: Duration.Duration
  /** How often the books are verified. Zero: never in the background. */
  readonly verifyInterval: Duration.Duration
  /** The lowest margin of a day that raises no alert, in percent of its revenue. Absent: every margin is high enough. */
  readonly marginFloor: number | undefined
  readonly videos: {
    /** A video job that is not finished this long after its submission fails. */
    readonly deadline: Duration.Duration
    /** The maximum number of video jobs that all nodes together run at one provider. */
    readonly perProvider: number
  }
  readonly log: { readonly level: LogLevel.LogLevel; readonly format: "json" | "pretty" }
  readonly telemetry: TelemetrySettings
}

/** Providers that have a key variable of their own in the settings. */
const KEYED = {
  openai: "OPENAI",
  anthropic: "ANTHROPIC",
  gemini: "GEMINI",
  voyage: "VOYAGE",
  tavily: "TAVILY",
  fal: "FAL",
  xai: "XAI"
} as const

const keyedProviders = (values: Values) =>
  Record.map(KEYED, (prefix): ProviderSettings => ({
    apiKey: values[`${prefix}_API_KEY`],
    baseUrl: values[`${prefix}_BASE_URL`]
  }))

/** Fails with the first of these variables that is not set. */
const required = <N extends keyof Values>(values: Values, names: ReadonlyArray<N>, when: string) =>
  Effect.forEach(names, (name) =>
    values[name] === undefined ? Effect.fail(new StartError({ message: `${name} must be set ${when}` })) : Effect.void
  )

/**
 * S3 is used when a bucket is named. Other S3 settings without a bucket are a mistake that would otherwise show only when files are
 * lost.
 */
const s3Of = (values: Values): Effect.Effect<S3Settings | undefined, StartError> =>
  Effect.gen(function* () {
    const { S3_ACCESS_KEY_ID: id, S3_BUCKET: bucket, S3_ENDPOINT: endpoint, S3_REGION: region } = values
    const key = values.S3_SECRET_ACCESS_KEY
    if (bucket === undefined && endpoint === undefined && id === undefined && key === undefined) return undefined
    yield* required(values, ["S3_BUCKET", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"], "when files are kept in S3")
    return {
      endpoint: endpoint ?? new URL(`https://s3.${region}.amazonaws.com`),
      bucket: bucket!,
      region,
      accessKeyId: Redacted.value(id!),
      secretAccessKey: key!,
      pathStyle: values.S3_FORCE_PATH_STYLE
    }
  })

const mailOf = (values: Values): Effect.Effect<MailSettings | undefined, StartError> =>
  values.SMTP_URL === undefined
    ? Effect.undefined
    : Effect.as(required(values, ["MAIL_FROM"], "when SMTP_URL is"), { url: values.SMTP_URL, from: values.MAIL_FROM! })

/** An incomplete set of Twilio settings is a mistake that the first owner would run into, so it fails the start. */
const twilioOf = (values: Values): Effect.Effect<TwilioSettings | undefined, StartError> => {
  const names = ["TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "TWILIO_VERIFY_SERVICE_SID"] as const
  if (names.every((name) => values[name] === undefined)) return Effect.undefined
  return Effect.map(required(values, names, "when Twilio verifies phone numbers"), () => ({
    accountSid: values.TWILIO_ACCOUNT_SID!,
    authToken: values.TWILIO_AUTH_TOKEN!,
    serviceSid: values.TWILIO_VERIFY_SERVICE_SID!,
    baseUrl: values.TWILIO_BASE_URL
  }))
}

/** Taking money without crediting it is worse than taking none, so Stripe's two secrets must be set together. */
const stripeOf = (values: Values): Effect.Effect<StripeSettings | undefined, StartError> => {
  const names = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"] as const
  if (names.every((name) => values[name] === undefined)) return Effect.undefined
  return Effect.map(required(values, names, "when Stripe takes payments"), () => ({
    secretKey: values.STRIPE_SECRET_KEY!,
    webhookSecret: values.STRIPE_WEBHOOK_SECRET!,
    baseUrl: values.STRIPE_BASE_URL
  }))
}

const hostKey = secret("The API key of a host in `PROVIDERS_FILE`.")

/** Whether any provider, of this program or of the file, has a key. */
const hasKey = (values: Values, keyed: ReadonlyArray<ProviderSettings>): Effect.Effect<boolean, StartError> =>
  Effect.gen(function* () {
    const { PROVIDERS_FILE: file } = values
    const names = file === undefined ? [] : yield* keyVariables(file)
    const hostKeys = yield* Effect.forEach(names, (name) => read(name, hostKey))
    return [...keyed.map(({ apiKey }) => apiKey), ...hostKeys].some((key) => key !== undefined)
  })

/**
 * With `auto`, a production database or a configured key turns the sandbox off, so that simulated answers and payments never appear
 * there by accident.
 */
const sandboxOf = ({ DATABASE_URL: url, SANDBOX: mode }: Values, keyed: boolean): boolean =>
  mode === "auto" ? url === undefined && !keyed : mode === "on"

const decode: Effect.Effect<Settings, StartError> = Effect.gen(function* () {
  const environment = yield* ConfigProvider.ConfigProvider
  const values = yield* readValues
  const keyed = keyedProviders(values)
  const isKeyed = yield* hasKey(values, Object.values(keyed))
  const sandbox = sandboxOf(values, isKeyed)
  return {
    http: {
      host: values.HOST,
      port: values.PORT,
      trustedProxies: values.TRUSTED_PROXIES,
      publicUrl: values.PUBLIC_URL
    },
    ops: { host: values.OPS_HOST, port: values.OPS_PORT },
    data: { directory: resolve(values.DATA_DIR ?? ".data"), explicit: values.DATA_DIR !== undefined },
    files: { retention: values.FILE_RETENTION, s3: yield* s3Of(values) },
    retention: { webhooks: values.WEBHOOK_RETENTION, sessions: values.SESSION_RETENTION },
    database: {
      url: values.DATABASE_URL,
      migrates: values.DATABASE_MIGRATE,
      poolSize: values.DATABASE_POOL_SIZE
    },
    secretsKey: values.SECRETS_KEY,
    mail: yield* mailOf(values),
    twilio: yield* twilioOf(values),
    phoneCodesPerDay: values.PHONE_CODES_PER_DAY,
    redisUrl: values.REDIS_URL,
    sandbox,
    allSimulated: sandbox && !isKeyed,
    stripe: yield* stripeOf(values),
    providers: {
      ...keyed,
      file: values.PROVIDERS_FILE,
      keyFrom: (variable) =>
        read(variable, hostKey).pipe(Effect.provideService(ConfigProvider.ConfigProvider, environment))
    },
    routing: { latencyHedge: values.LATENCY_HEDGE },
    catalogueFile: values.CATALOGUE_FILE,
    rateLimitScale: values.RATE_LIMIT_SCALE,
    maxMessages: values.MAX_MESSAGES,
    outbound: { allowLoopback: values.OUTBOUND_ALLOW_LOOPBACK },
    holdTtl: values.HOLD_TTL,
    upstream: {
      connectTimeout: values.UPSTREAM_CONNECT_TIMEOUT,
      firstTokenTimeout: values.UPSTREAM_FIRST_TOKEN_TIMEOUT,
      idleTimeout: values.UPSTREAM_IDLE_TIMEOUT,
      totalTimeout: values.UPSTREAM_TOTAL_TIMEOUT
    },
    autoClassifier: { model: values.AUTO_CLASSIFIER_MODEL, timeout: values.AUTO_CLASSIFIER_TIMEOUT },
    clientDrain: values.CLIENT_DRAIN,
    shutdownDelay: values.SHUTDOWN_DELAY,
    shutdownGrace: values.SHUTDOWN_GRACE,
    sweepInterval: values.SWEEP_INTERVAL,
    verifyInterval: values.LEDGER_VERIFY_INTERVAL,
    marginFloor: values.MARGIN_FLOOR,
    videos: { deadline: values.VIDEO_DEADLINE, perProvider: values.VIDEO_PROVIDER_LIMIT },
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
    telemetry: telemetryOf(values)
  }
})

/** The settings, decoded once. No other code reads the environment. */
export class Config extends Context.Service<Config, Settings>()("tollgate/platform/Config") {
  /** Fails with the name of the first variable that has an invalid value. */
  static readonly layer = Layer.effect(Config, decode)

  /** Reads the settings from a record of variables instead of the environment. */
  static readonly layerFrom = (variables: Readonly<Record<string, string>>) =>
    Config.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables }))))
}
