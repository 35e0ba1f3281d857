/**
 * Lists every environment variable of the service: name, allowed values, default and meaning. The type, the decoder, `--help` and the
 * reference page derive from it.
 */
import { Effect, Record, Redacted } from "effect"
import type { LogLevel } from "effect"
import { BlockList, isIP } from "node:net"
import { resolve } from "node:path"
import { headerPairs, pairs, providerIds, ratio, samplers } from "../telemetry/TelemetryVariables.ts"
import {
  anyText,
  BASE,
  baseUrl,
  duration,
  durationOrZero,
  flag,
  host,
  integer,
  LONGEST_RETENTION,
  type Parse,
  parseBase,
  parseUrl,
  port,
  read,
  redisUrl,
  secret,
  secretUrl,
  type Setting,
  setting,
  smtpUrl,
  type StartError,
  wholeNumber,
  words
} from "./Variables.ts"

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

const parseEndpoint: Parse<URL> = (text) => {
  const url = parseUrl(["http:", "https:"])(text)
  return url !== undefined && url.href === `${url.origin}/` ? url : undefined
}

const parseSid =
  (prefix: string): Parse<string> =>
  (text) =>
    new RegExp(`^${prefix}[0-9a-fA-F]{32}$`).test(text) ? text : undefined

const matching =
  (pattern: RegExp): Parse<string> =>
  (text) =>
    pattern.test(text) ? text : undefined

const path = (allowed: string): Pick<Setting<string>, "allowed" | "parse"> => ({
  allowed,
  parse: (text) => resolve(text)
})

/** Groups are in the order in which an operator looks for them, and variables in the order of importance. */
export const settings = {
  Serving: {
    PORT: port(8787, "The public port; 0 picks a free one."),
    HOST: host("0.0.0.0", "The address the public port listens on."),
    PUBLIC_URL: setting({
      allowed: `${BASE}, such as https://api.example.com`,
      parse: (text) => parseBase(text)?.href.replace(/\/+$/, ""),
      meaning:
        "The URL at which clients reach the service, used in links to files. When absent, `http://localhost` with the port. The console's cookie is `Secure` when the URL begins with `https`, and limited to its path otherwise."
    }),
    TRUSTED_PROXIES: setting({
      allowed: "a comma-separated list of IP addresses and CIDR ranges",
      parse: parseProxies,
      absent: new BlockList(),
      meaning:
        "Proxies from which the gateway trusts `X-Forwarded-For`, and `X-Forwarded-Proto: https`, which makes the console's cookie `Secure`."
    }),
    OPS_HOST: host(
      "127.0.0.1",
      "The address of `/healthz`, `/readyz` and `/metrics`. They need no key: let only operators reach it."
    ),
    OPS_PORT: port(9464, "The ops port; 0 picks a free one."),
    SHUTDOWN_DELAY: durationOrZero(
      "5 seconds",
      "How long a stopping node answers `/readyz` with 503 while it still serves every request and closes each connection. Make it longer than your load balancer takes to notice."
    ),
    SHUTDOWN_GRACE: duration("20 seconds", "How long running requests may take to finish after SHUTDOWN_DELAY."),
    RATE_LIMIT_SCALE: setting({
      allowed: "a number above zero",
      parse: (text) => {
        const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
        return value > 0 && Number.isFinite(value) ? value : undefined
      },
      fallback: "1",
      meaning: "Multiplies every rate limit."
    }),
    MAX_MESSAGES: integer(
      100,
      100,
      10_000,
      "The most messages in a chat or messages request. A responses request may have 1,000 items, or this many when it is larger."
    ),
    OUTBOUND_ALLOW_LOOPBACK: flag(
      "0",
      "`1` lets image URLs and webhooks use http and https addresses of this machine, for development."
    )
  },
  Storage: {
    DATA_DIR: setting({
      allowed: "the path of a directory",
      parse: anyText,
      shown: ".data",
      meaning:
        "Where the embedded database lives, and files when there is no bucket. When the database's user cannot reach it, `/var/lib/tollgate`, which the start announces."
    }),
    DATABASE_URL: secretUrl(
      "a URL such as postgres://user:password@host:5432/name, with several hosts as host1:5432,host2:5432",
      ["postgres:", "postgresql:"],
      "A PostgreSQL of your own, 15 or later, in place of the embedded 18. Of several hosts, the gateway uses the one that takes writes."
    ),
    DATABASE_MIGRATE: flag(
      "1",
      "`0` leaves the schema alone: a start fails until `npm run admin -- migrate` has brought it up to date. The role in `DATABASE_URL` then needs no right to change tables."
    ),
    DATABASE_POOL_SIZE: integer(10, 2, 500, "Connections to the database; the ledger has up to 2 more of its own."),
    REDIS_URL: redisUrl(
      "Shares rate limits, cached answers and circuit breakers between nodes. When absent, each node has its own in memory."
    ),
    SECRETS_KEY: setting({
      allowed: "32 to 512 printable characters without spaces",
      parse: (text) => (/^[\x21-\x7e]{32,512}$/.test(text) ? Redacted.make(text) : undefined),
      isSecret: true,
      meaning:
        "Seals webhook secrets in the database and hashes codes and phone numbers. It must be the same on all nodes. When absent, a key in `DATA_DIR`, created at the first start; nodes that share no `DATA_DIR` then grant a phone's starter credit once each."
    }),
    FILE_RETENTION: duration("30 days", "How long images, clips and ended video jobs are kept.", LONGEST_RETENTION),
    WEBHOOK_RETENTION: duration(
      "30 days",
      "How long ended webhook deliveries and their events are kept. Until then they can be listed and sent again.",
      LONGEST_RETENTION
    ),
    SESSION_RETENTION: durationOrZero(
      "0",
      "How long a recorded conversation of the legacy chat is kept after its last turn. `0` keeps all.",
      LONGEST_RETENTION
    ),
    S3_BUCKET: setting({
      allowed:
        "the name of a bucket: 3 to 63 characters, of letters, digits, dots, underscores and hyphens, with a letter or digit at both ends",
      parse: matching(/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/),
      meaning:
        "Keeps files in this bucket of an S3-compatible store, below `files/`, in place of `DATA_DIR`. Several nodes need it, or a shared `DATA_DIR`."
    }),
    S3_ENDPOINT: setting({
      allowed: "an http or https URL without a path",
      parse: parseEndpoint,
      meaning:
        "The store's address without the bucket, such as `https://minio.internal:9000`. When absent, Amazon's in the region."
    }),
    S3_REGION: setting({
      allowed: "the name of a region",
      parse: matching(/^[A-Za-z0-9-]+$/),
      fallback: "us-east-1",
      meaning: "The bucket's region."
    }),
    S3_ACCESS_KEY_ID: secret("An access key that may read, write, list and delete in the bucket."),
    S3_SECRET_ACCESS_KEY: secret("The access key's secret."),
    S3_FORCE_PATH_STYLE: flag("1", "`0` puts the bucket before the host in place of the path.")
  },
  Providers: {
    SANDBOX: words(
      "auto",
      ["auto", "on", "off"],
      "Simulated providers: `on` for providers without a key, `off`, or `auto`: on without any key (hosts in `PROVIDERS_FILE` included) on the embedded database."
    ),
    OPENAI_API_KEY: secret("OpenAI's key."),
    OPENAI_BASE_URL: baseUrl("The base URL of OpenAI's API, or of a compatible server."),
    ANTHROPIC_API_KEY: secret("Anthropic's key."),
    ANTHROPIC_BASE_URL: baseUrl("The base URL of Anthropic's API, or of another server with its Messages API."),
    GEMINI_API_KEY: secret("The key of Google's Gemini API."),
    GEMINI_BASE_URL: baseUrl("The base URL of Gemini's API, without `/v1beta`."),
    VOYAGE_API_KEY: secret("Voyage AI's key."),
    VOYAGE_BASE_URL: baseUrl("The base URL of Voyage's API, without `/embeddings` and `/rerank`."),
    TAVILY_API_KEY: secret("The key of Tavily's search."),
    TAVILY_BASE_URL: baseUrl("The base URL of Tavily's API, without `/search`."),
    FAL_API_KEY: secret("fal's key, for images and videos."),
    FAL_BASE_URL: baseUrl(
      "The base URL of fal's API, without a model's path. The queue uses it as well, unless the host is fal.run."
    ),
    XAI_API_KEY: secret("xAI's key."),
    XAI_BASE_URL: baseUrl("The base URL of xAI's API, without `/chat/completions` and `/videos/generations`."),
    PROVIDERS_FILE: setting({
      ...path("the path of a file"),
      meaning: "A JSON file with further OpenAI-compatible hosts; see [Providers](../operate/providers.md)."
    }),
    CATALOGUE_FILE: setting({
      ...path("the path of a file"),
      meaning:
        "A JSON file with your prices, statuses, promotions and history of models; see [Providers](../operate/providers.md)."
    }),
    UPSTREAM_CONNECT_TIMEOUT: duration("10 seconds", "How long connecting to a provider may take."),
    UPSTREAM_FIRST_TOKEN_TIMEOUT: duration("2 minutes", "Until a stream's first content."),
    UPSTREAM_IDLE_TIMEOUT: duration(
      "1 minute",
      "The longest silence within a stream, and of a host that sends a long list of vectors."
    ),
    UPSTREAM_TOTAL_TIMEOUT: duration("10 minutes", "How long all provider calls of one request together may take."),
    LATENCY_HEDGE: flag(
      "0",
      "`1` lets requests with the strategy `latency` call a second provider while the first has not answered."
    ),
    AUTO_CLASSIFIER_MODEL: setting({
      allowed: "the id of a model",
      parse: anyText,
      meaning:
        "The model that labels requests to `svc/auto` when the rules are unsure, paid by the operator. When absent, the rules decide."
    }),
    AUTO_CLASSIFIER_TIMEOUT: duration("1 second", "How long the classifier may take before the rules decide.")
  },
  Money: {
    HOLD_TTL: duration("15 minutes", "A hold that is neither settled nor renewed ends after this time."),
    CLIENT_DRAIN: duration(
      "30 seconds",
      "How long the gateway keeps reading an answer after its client disconnected, where stopping the provider would not stop its bill."
    ),
    SWEEP_INTERVAL: duration(
      "15 seconds",
      "How often the gateway ends overdue holds. Every fourth time it frees old idempotency keys and removes expired files and deliveries; an idle node does so less often."
    ),
    LEDGER_VERIFY_INTERVAL: durationOrZero(
      "1 hour",
      "How often one of the nodes verifies the books since they were last proved; everything, when they never were. `0` leaves it to the admin command."
    ),
    VIDEO_DEADLINE: duration("30 minutes", "A video that is not finished this long after its submission fails."),
    VIDEO_PROVIDER_LIMIT: integer(
      20,
      1,
      10_000,
      "Video jobs that all nodes together run at one provider; one account may have half of them."
    ),
    MARGIN_FLOOR: setting({
      allowed: "a percentage from -1000 to 100",
      parse: (text) => {
        const value = /^-?\d+(\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN
        return value >= -1_000 && value <= 100 ? value : undefined
      },
      meaning:
        "When the margin of the current UTC day falls below this percentage of its revenue, `svc_day_margin_low` becomes 1 and the log says so. When absent, no margin is too low."
    }),
    STRIPE_SECRET_KEY: secret(
      "Takes payments through Stripe. When absent, payments are simulated in a sandbox and not taken elsewhere."
    ),
    STRIPE_WEBHOOK_SECRET: secret("The secret with which Stripe signs its events."),
    STRIPE_BASE_URL: setting({
      allowed: "an http or https URL without a path",
      parse: parseEndpoint,
      meaning: "The base URL of a Stripe-compatible server, for tests."
    })
  },
  "Accounts and messages": {
    SMTP_URL: smtpUrl("The mail server for sign-in codes, such as `smtps://user:password@host:465`."),
    MAIL_FROM: setting({
      allowed: "an address such as Ann <ann@example.com>",
      parse: matching(/^[^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>$|^[^\s@<>]+@[^\s@<>]+$/),
      meaning: "The sender of emails, such as `Ann <ann@example.com>`; needed with `SMTP_URL`."
    }),
    TWILIO_ACCOUNT_SID: setting({
      allowed: "AC and 32 hexadecimal characters",
      parse: parseSid("AC"),
      meaning: "Verifies phone numbers through Twilio Verify."
    }),
    TWILIO_AUTH_TOKEN: secret("Twilio's token."),
    TWILIO_VERIFY_SERVICE_SID: setting({
      allowed: "VA and 32 hexadecimal characters",
      parse: parseSid("VA"),
      meaning: "The Verify service."
    }),
    TWILIO_BASE_URL: baseUrl("The base URL of Twilio Verify, without `/v2/Services`.", "https://verify.twilio.com"),
    PHONE_CODES_PER_DAY: integer(
      1_000,
      1,
      10_000_000,
      "Text messages with codes that all nodes together send in 24 hours; more get 429."
    )
  },
  Observing: {
    LOG_LEVEL: setting<LogLevel.LogLevel>({
      allowed: `one of ${Object.keys(logLevels).join(", ")}`,
      parse: (text) => Object.entries(logLevels).find(([word]) => word === text.toLowerCase())?.[1],
      fallback: "info",
      meaning: "The least severe log lines that are written."
    }),
    LOG_FORMAT: words(
      process.stdout.isTTY ? "pretty" : "json",
      ["json", "pretty"],
      "The form of log lines. When absent, `pretty` on a terminal and `json` elsewhere.",
      ""
    ),
    OTEL_EXPORTER_OTLP_ENDPOINT: setting({
      allowed: `${BASE}, such as http://localhost:4318`,
      parse: parseBase,
      meaning: "Where traces, metrics and logs go, as OTLP over HTTP. When absent, nothing is exported."
    }),
    OTEL_EXPORTER_OTLP_PROTOCOL: words("http/protobuf", ["http/protobuf", "http/json"], "The form of exports."),
    OTEL_METRIC_EXPORT_INTERVAL: integer(60_000, 1_000, 86_400_000, "Milliseconds between two exports of metrics."),
    OTEL_EXPORTER_OTLP_HEADERS: headerPairs(
      "Headers of each export, such as a key: `name=value`, comma-separated, percent-encoded."
    ),
    OTEL_SERVICE_NAME: setting({
      allowed: "a name",
      parse: anyText,
      shown: "tollgate",
      meaning: "The service's name in traces and metrics."
    }),
    OTEL_RESOURCE_ATTRIBUTES: pairs(
      "Further attributes of the service: `key=value`, comma-separated, percent-encoded."
    ),
    OTEL_TRACES_SAMPLER: words(
      "parentbased_always_on",
      samplers,
      "Which traces are recorded. With `parentbased_`, the caller's decision counts for its trace."
    ),
    OTEL_TRACES_SAMPLER_ARG: ratio("The share of traces that `traceidratio` records, 0 to 1; the same on every node."),
    OTEL_SDK_DISABLED: flag("0", "`1` exports nothing, whatever the endpoint."),
    TRACE_CONTEXT_PROVIDERS: providerIds(
      "Ids of the providers that receive the trace context of their calls, comma-separated. By default no provider does."
    )
  }
} as const

type Groups = typeof settings
type Names = { [G in keyof Groups]: keyof Groups[G] }[keyof Groups]
type Value<S> = S extends Setting<infer A, infer D> ? A | D : never
type ValueIn<N, G = Groups[keyof Groups]> = G extends unknown ? (N extends keyof G ? Value<G[N]> : never) : never

/** The decoded value of each variable. */
export type Values = { readonly [N in Names]: ValueIn<N> }

/** All variables by name. */
export const settingsByName: Readonly<Record<Names, Setting<unknown, unknown>>> = Object.assign(
  {},
  ...Object.values(settings)
)

/** Decodes every variable. Fails with the name of the first variable with an invalid value. */
export const readValues: Effect.Effect<Values, StartError> = Effect.suspend(() =>
  Effect.all(Record.map(settingsByName, (one, name) => read(name, one)))
) as Effect.Effect<Values, StartError>
