import { ConfigProvider, Context, type Duration, Effect, Layer, Record, Redacted } from "effect"
import type { LogLevel } from "effect"
import type { BlockList } from "node:net"
import { resolve } from "node:path"
import { keyVariables } from "./ProvidersFile.ts"
import { readValues, type Values } from "./SettingsTable.ts"
import { telemetryOf, type TelemetrySettings } from "./TelemetrySettings.ts"
import { read, secret, StartError } from "./Variables.ts"

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
  /** Codes that all nodes together send to telephones in 24 hours. */
  readonly phoneCodesPerDay: number
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
  /** The most messages that a request may have. */
  readonly maxMessages: number
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
  /** How long a service that stops serves as before, apart from being unready and closing connections. */
  readonly shutdownDelay: Duration.Duration
  /** How long requests under way may take to finish after that. */
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

/** Providers whose settings name a key of their own. */
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

/** Fails with the first of these variables that is absent. */
const required = <N extends keyof Values>(values: Values, names: ReadonlyArray<N>, when: string) =>
  Effect.forEach(names, (name) =>
    values[name] === undefined ? Effect.fail(new StartError({ message: `${name} must be set ${when}` })) : Effect.void
  )

/** A bucket is used when it is named. What is set for none is a mistake that would show when files are lost. */
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

/** A part of Twilio's settings without the others is a mistake that the first owner would notice. */
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

/** Taking money without crediting it is worse than taking none, so neither secret is used without the other. */
const stripeOf = (values: Values): Effect.Effect<StripeSettings | undefined, StartError> => {
  const names = ["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"] as const
  if (names.every((name) => values[name] === undefined)) return Effect.undefined
  return Effect.map(required(values, names, "when Stripe takes payments"), () => ({
    secretKey: values.STRIPE_SECRET_KEY!,
    webhookSecret: values.STRIPE_WEBHOOK_SECRET!,
    baseUrl: values.STRIPE_BASE_URL
  }))
}

const hostKey = secret("The key of a host in `PROVIDERS_FILE`.")

/** In `auto`, neither a production database nor a host with a key meets simulated answers or payments by accident. */
const sandboxOf = (values: Values, keyed: ReadonlyArray<ProviderSettings>): Effect.Effect<boolean, StartError> =>
  Effect.gen(function* () {
    const { DATABASE_URL: url, PROVIDERS_FILE: file, SANDBOX: mode } = values
    if (mode !== "auto") return mode === "on"
    const names = file === undefined ? [] : yield* keyVariables(file)
    const hostKeys = yield* Effect.forEach(names, (name) => read(name, hostKey))
    const keys = [...keyed.map(({ apiKey }) => apiKey), ...hostKeys]
    return url === undefined && keys.every((key) => key === undefined)
  })

const decode: Effect.Effect<Settings, StartError> = Effect.gen(function* () {
  const environment = yield* ConfigProvider.ConfigProvider
  const values = yield* readValues
  const keyed = keyedProviders(values)
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
    database: { url: values.DATABASE_URL, poolSize: values.DATABASE_POOL_SIZE },
    secretsKey: values.SECRETS_KEY,
    mail: yield* mailOf(values),
    twilio: yield* twilioOf(values),
    phoneCodesPerDay: values.PHONE_CODES_PER_DAY,
    redisUrl: values.REDIS_URL,
    sandbox: yield* sandboxOf(values, Object.values(keyed)),
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
    videos: { deadline: values.VIDEO_DEADLINE, perProvider: values.VIDEO_PROVIDER_LIMIT },
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
    telemetry: telemetryOf(values)
  }
})

/** The settings, decoded once from the environment. The only reader of the environment. */
export class Config extends Context.Service<Config, Settings>()("tollgate/platform/Config") {
  /** Fails with the name of the first variable whose value is not allowed. */
  static readonly layer = Layer.effect(Config, decode)

  /** The same, from a record of variables in place of the environment. */
  static readonly layerFrom = (variables: Readonly<Record<string, string>>) =>
    Config.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables }))))
}

/** For libraries that would read the environment by themselves: there they find nothing. */
export const withoutEnvironment = ConfigProvider.layer(ConfigProvider.fromUnknown({}))
