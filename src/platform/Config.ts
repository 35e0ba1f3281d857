import { ConfigProvider, Context, Duration, Effect, Layer, Redacted } from "effect"
import type { LogLevel } from "effect"
import { BlockList, isIP } from "node:net"
import { resolve } from "node:path"
import { keyVariables } from "./ProvidersFile.ts"
import { telemetry, type TelemetrySettings } from "./TelemetrySettings.ts"
import {
  BASE,
  duration,
  flag,
  host,
  type Parse,
  parseBase,
  parseUrl,
  port,
  read,
  readOr,
  redisUrl,
  secret,
  secretUrl,
  smtpUrl,
  StartError,
  wholeNumber,
  words
} from "./Variables.ts"

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

const provider = (prefix: string): Effect.Effect<ProviderSettings, StartError> =>
  Effect.all({
    apiKey: secret(`${prefix}_API_KEY`),
    baseUrl: read(`${prefix}_BASE_URL`, BASE, parseBase)
  })

const addProxy = (list: BlockList, entry: string): boolean => {
  const [address = "", prefix, ...rest] = entry.split("/")
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  const type = family === 4 ? "ipv4" : "ipv6"
  if (prefix === undefined) {
    list.addAddress(address, type)
    return true
  }
  const bits = wholeNumber(0, family === 4 ? 32 : 128)(prefix)
  if (bits === undefined) return false
  list.addSubnet(address, bits, type)
  return true
}

const parseProxies: Parse<BlockList> = (text) => {
  const list = new BlockList()
  return text.split(",").every((entry) => addProxy(list, entry.trim())) ? list : undefined
}

const logLevels = {
  all: "All",
  trace: "Trace",
  debug: "Debug",
  info: "Info",
  warn: "Warn",
  error: "Error",
  fatal: "Fatal",
  none: "None"
} as const satisfies Record<string, LogLevel.LogLevel>

const logLevel = readOr<LogLevel.LogLevel>(
  "LOG_LEVEL",
  "Info",
  `one of ${Object.keys(logLevels).join(", ")}`,
  (text) => Object.entries(logLevels).find(([word]) => word === text.toLowerCase())?.[1]
)

const keyedProviders = Effect.all({
  openai: provider("OPENAI"),
  anthropic: provider("ANTHROPIC"),
  gemini: provider("GEMINI"),
  voyage: provider("VOYAGE"),
  tavily: provider("TAVILY"),
  fal: provider("FAL"),
  xai: provider("XAI")
})

const publicUrl = read("PUBLIC_URL", `${BASE}, such as https://api.example.com`, (text) =>
  parseBase(text)?.href.replace(/\/+$/, "")
)

const parseEndpoint: Parse<URL> = (text) => {
  const url = parseUrl(["http:", "https:"])(text)
  return url !== undefined && url.href === `${url.origin}/` ? url : undefined
}

/** A bucket is used when it is named; what is set for none is a mistake that would be noticed when files are lost. */
const s3: Effect.Effect<S3Settings | undefined, StartError> = Effect.gen(function* () {
  const endpoint = yield* read("S3_ENDPOINT", "an http or https URL without a path", parseEndpoint)
  const bucket = yield* read("S3_BUCKET", "the name of a bucket", (text) =>
    /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(text) ? text : undefined
  )
  const region = yield* readOr("S3_REGION", "us-east-1", "the name of a region", (text) =>
    /^[A-Za-z0-9-]+$/.test(text) ? text : undefined
  )
  const accessKeyId = yield* secret("S3_ACCESS_KEY_ID")
  const secretAccessKey = yield* secret("S3_SECRET_ACCESS_KEY")
  const pathStyle = yield* flag("S3_FORCE_PATH_STYLE", true)
  if (bucket === undefined && endpoint === undefined && accessKeyId === undefined && secretAccessKey === undefined) {
    return undefined
  }
  const needed = (name: string) => new StartError({ message: `${name} must be set where files are kept in S3` })
  if (bucket === undefined) return yield* needed("S3_BUCKET")
  if (accessKeyId === undefined) return yield* needed("S3_ACCESS_KEY_ID")
  if (secretAccessKey === undefined) return yield* needed("S3_SECRET_ACCESS_KEY")
  return {
    endpoint: endpoint ?? new URL(`https://s3.${region}.amazonaws.com`),
    bucket,
    region,
    accessKeyId: Redacted.value(accessKeyId),
    secretAccessKey,
    pathStyle
  }
})

const mail: Effect.Effect<MailSettings | undefined, StartError> = Effect.gen(function* () {
  const url = yield* smtpUrl("SMTP_URL")
  const from = yield* read("MAIL_FROM", "an address such as Ann <ann@example.com>", (text) =>
    /^[^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>$|^[^\s@<>]+@[^\s@<>]+$/.test(text) ? text : undefined
  )
  if (url === undefined) return undefined
  return from === undefined
    ? yield* new StartError({ message: "MAIL_FROM must be set where SMTP_URL is" })
    : { url, from }
})

/** One of its names without the others is a mistake that would be noticed by the first owner. */
const twilio: Effect.Effect<TwilioSettings | undefined, StartError> = Effect.gen(function* () {
  const sid = (name: string, prefix: string) =>
    read(name, `${prefix} and 32 hexadecimal characters`, (text) =>
      new RegExp(`^${prefix}[0-9a-fA-F]{32}$`).test(text) ? text : undefined
    )
  const accountSid = yield* sid("TWILIO_ACCOUNT_SID", "AC")
  const authToken = yield* secret("TWILIO_AUTH_TOKEN")
  const serviceSid = yield* sid("TWILIO_VERIFY_SERVICE_SID", "VA")
  const baseUrl = yield* readOr("TWILIO_BASE_URL", new URL("https://verify.twilio.com"), BASE, parseBase)
  if (accountSid === undefined && authToken === undefined && serviceSid === undefined) return undefined
  const needed = (name: string) => new StartError({ message: `${name} must be set where Twilio verifies telephones` })
  if (accountSid === undefined) return yield* needed("TWILIO_ACCOUNT_SID")
  if (authToken === undefined) return yield* needed("TWILIO_AUTH_TOKEN")
  if (serviceSid === undefined) return yield* needed("TWILIO_VERIFY_SERVICE_SID")
  return { accountSid, authToken, serviceSid, baseUrl }
})

/** Money that is taken and not credited is worse than none that is taken, so that one is not used without the other. */
const stripe: Effect.Effect<StripeSettings | undefined, StartError> = Effect.gen(function* () {
  const secretKey = yield* secret("STRIPE_SECRET_KEY")
  const webhookSecret = yield* secret("STRIPE_WEBHOOK_SECRET")
  const baseUrl = yield* read("STRIPE_BASE_URL", "an http or https URL without a path", parseEndpoint)
  if (secretKey === undefined && webhookSecret === undefined) return undefined
  const needed = (name: string) => new StartError({ message: `${name} must be set where payments are taken by Stripe` })
  if (secretKey === undefined) return yield* needed("STRIPE_SECRET_KEY")
  if (webhookSecret === undefined) return yield* needed("STRIPE_WEBHOOK_SECRET")
  return { secretKey, webhookSecret, baseUrl }
})

/** No timer waits for it. A moment that a file is to go at is still one that dates have. */
const LONGEST_RETENTION = Duration.days(36_500)

/** In `auto`, neither a production database nor a host whose key is set meets simulated answers, or payments, by accident. */
const sandboxed = (
  keyed: ReadonlyArray<ProviderSettings>,
  hostsFile: string | undefined,
  databaseUrl: Redacted.Redacted | undefined
): Effect.Effect<boolean, StartError> =>
  Effect.gen(function* () {
    const mode = yield* words("SANDBOX", "auto", ["auto", "on", "off"])
    if (mode !== "auto") return mode === "on"
    const hostKeys = hostsFile === undefined ? [] : yield* Effect.forEach(yield* keyVariables(hostsFile), secret)
    const keys = [...keyed.map(({ apiKey }) => apiKey), ...hostKeys]
    return databaseUrl === undefined && keys.every((key) => key === undefined)
  })

const decode: Effect.Effect<Settings, StartError> = Effect.gen(function* () {
  const directory = yield* read("DATA_DIR", "the path of a directory", (text) => text)
  const environment = yield* ConfigProvider.ConfigProvider
  const keyed = yield* keyedProviders
  const databaseUrl = yield* secretUrl("DATABASE_URL", "a URL such as postgres://user:password@host:5432/name", [
    "postgres:",
    "postgresql:"
  ])
  const hostsFile = yield* read("PROVIDERS_FILE", "the path of a file", (text) => resolve(text))
  return {
    http: {
      host: yield* host("HOST", "0.0.0.0"),
      port: yield* port("PORT", 8787),
      trustedProxies: yield* readOr(
        "TRUSTED_PROXIES",
        new BlockList(),
        "a comma-separated list of IP addresses and CIDR ranges",
        parseProxies
      ),
      publicUrl: yield* publicUrl
    },
    ops: { host: yield* host("OPS_HOST", "127.0.0.1"), port: yield* port("OPS_PORT", 9464) },
    data: { directory: resolve(directory ?? ".data"), explicit: directory !== undefined },
    files: { retention: yield* duration("FILE_RETENTION", "30 days", LONGEST_RETENTION), s3: yield* s3 },
    database: {
      url: databaseUrl,
      poolSize: yield* readOr("DATABASE_POOL_SIZE", 10, "a whole number from 2 to 500", wholeNumber(2, 500))
    },
    secretsKey: yield* read("SECRETS_KEY", "32 to 512 printable characters without spaces", (text) =>
      /^[\x21-\x7e]{32,512}$/.test(text) ? Redacted.make(text) : undefined
    ),
    mail: yield* mail,
    twilio: yield* twilio,
    phoneCodesPerDay: yield* readOr(
      "PHONE_CODES_PER_DAY",
      1_000,
      "a whole number from 1 to 10000000",
      wholeNumber(1, 10_000_000)
    ),
    redisUrl: yield* redisUrl("REDIS_URL"),
    sandbox: yield* sandboxed(Object.values(keyed), hostsFile, databaseUrl),
    stripe: yield* stripe,
    providers: {
      ...keyed,
      file: hostsFile,
      keyFrom: (variable) => secret(variable).pipe(Effect.provideService(ConfigProvider.ConfigProvider, environment))
    },
    routing: { latencyHedge: yield* flag("LATENCY_HEDGE") },
    catalogueFile: yield* read("CATALOGUE_FILE", "the path of a file", (text) => resolve(text)),
    rateLimitScale: yield* readOr("RATE_LIMIT_SCALE", 1, "a number above zero", (text) => {
      const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
      return value > 0 && Number.isFinite(value) ? value : undefined
    }),
    outbound: { allowLoopback: yield* flag("OUTBOUND_ALLOW_LOOPBACK") },
    holdTtl: yield* duration("HOLD_TTL", "15 minutes"),
    upstream: {
      connectTimeout: yield* duration("UPSTREAM_CONNECT_TIMEOUT", "10 seconds"),
      firstTokenTimeout: yield* duration("UPSTREAM_FIRST_TOKEN_TIMEOUT", "2 minutes"),
      idleTimeout: yield* duration("UPSTREAM_IDLE_TIMEOUT", "1 minute"),
      totalTimeout: yield* duration("UPSTREAM_TOTAL_TIMEOUT", "10 minutes")
    },
    autoClassifier: {
      model: yield* read("AUTO_CLASSIFIER_MODEL", "the id of a model", (text) => text),
      timeout: yield* duration("AUTO_CLASSIFIER_TIMEOUT", "1 second")
    },
    clientDrain: yield* duration("CLIENT_DRAIN", "30 seconds"),
    shutdownGrace: yield* duration("SHUTDOWN_GRACE", "20 seconds"),
    sweepInterval: yield* duration("SWEEP_INTERVAL", "15 seconds"),
    videos: {
      deadline: yield* duration("VIDEO_DEADLINE", "30 minutes"),
      perProvider: yield* readOr("VIDEO_PROVIDER_LIMIT", 20, "a whole number from 1 to 10000", wholeNumber(1, 10_000))
    },
    log: {
      level: yield* logLevel,
      format: yield* words("LOG_FORMAT", process.stdout.isTTY ? "pretty" : "json", ["json", "pretty"])
    },
    telemetry: yield* telemetry
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
