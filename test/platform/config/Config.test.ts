import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, FileSystem, Redacted } from "effect"
import { resolve } from "node:path"
import { Config } from "../../../src/platform/config/Config.ts"

const decode = (variables: Record<string, string>) =>
  Effect.flatMap(Config, Effect.succeed).pipe(Effect.provide(Config.layerFrom(variables)))

/** Values that are rejected, and part of the message that states the allowed ones. */
const refused: ReadonlyArray<readonly [variable: string, texts: ReadonlyArray<string>, allowed: string]> = [
  ["PORT", ["65536", "80.5", "-1", "http", "0x50", "1e3"], "a whole number from 0 (any free one) to 65535"],
  ["OPS_PORT", ["65537", "metrics"], "a whole number from 0 (any free one) to 65535"],
  ["HOST", ["two words", "http://host"], "a host name or an IP address"],
  ["OPS_HOST", ["a/b"], "a host name or an IP address"],
  ["DATABASE_URL", ["localhost", "mysql://localhost/db", "postgres://"], "postgres://user:password@host:5432/name"],
  ["DATABASE_POOL_SIZE", ["0", "1", "501", "many"], "a whole number from 2 to 500"],
  [
    "REDIS_URL",
    ["localhost:6379", "http://localhost", "redis://host/main", "redis://host/1/2", "redis://:a%zz@host"],
    "redis://host:6379"
  ],
  ["SANDBOX", ["yes", "1"], "one of auto, on, off"],
  ["PHONE_CODES_PER_DAY", ["0", "1.5", "x", "10000001"], "a whole number from 1 to 10000000"],
  ["RATE_LIMIT_SCALE", ["0", "-1", "Infinity", "x"], "a number above zero"],
  ["TRUSTED_PROXIES", ["proxy", "10.0.0.0/33", "::1/129", "10.0.0.1,,10.0.0.2", "10.0.0.0/8/8"], "CIDR ranges"],
  ["OUTBOUND_ALLOW_LOOPBACK", ["2", "maybe"], "0 or 1"],
  [
    "PUBLIC_URL",
    ["api.example.com", "ftp://host", "https://host/?a=1", "https://host/#a", "https://u:p@host"],
    "https"
  ],
  ["S3_ENDPOINT", ["minio:9000", "ftp://minio", "http://minio/bucket"], "without a path"],
  ["S3_BUCKET", ["a", "a/b", "-ab", "two words"], "the name of a bucket: 3 to 63 characters"],
  ["S3_REGION", ["eu west", "eu/west"], "the name of a region"],
  ["S3_ACCESS_KEY_ID", ["two words"], "printable text"],
  ["S3_SECRET_ACCESS_KEY", ["two words"], "printable text"],
  ["S3_FORCE_PATH_STYLE", ["2", "yes"], "0 or 1"],
  [
    "SMTP_URL",
    ["localhost:25", "http://localhost", "smtp://", "smtp://192.0.2.256:25", "smtp://user:password@%zz"],
    "smtps://user:password@host:465"
  ],
  ["MAIL_FROM", ["ann", "Ann <ann>", "a@b.de, c@d.de", "Ann <a@b.de> x"], "an address"],
  ["TWILIO_ACCOUNT_SID", ["AC1", `VA${"0".repeat(32)}`], "AC and 32 hexadecimal characters"],
  ["TWILIO_VERIFY_SERVICE_SID", ["VA1", `AC${"0".repeat(32)}`], "VA and 32 hexadecimal characters"],
  ["TWILIO_AUTH_TOKEN", ["two words"], "printable text"],
  ["TWILIO_BASE_URL", ["verify.twilio.com", "ftp://host", "https://host/?a=b"], "an http or https URL"],
  ["LATENCY_HEDGE", ["2", "on"], "0 or 1"],
  ["LOG_LEVEL", ["loud"], "one of all, trace, debug, info, warn, error, fatal, none"],
  ["LOG_FORMAT", ["xml"], "one of json, pretty"],
  [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    ["localhost:4318", "grpc://host:4317", "http://host/?key=1", "http://u:p@host"],
    "an http or https URL"
  ],
  ["OTEL_EXPORTER_OTLP_HEADERS", ["key", "=v", "a b=c", "a=%0d%0ab", "a=%zz"], "name=value, percent-encoded"],
  ["OTEL_RESOURCE_ATTRIBUTES", ["key", "a=%zz", "a=b,c"], "key=value, percent-encoded"],
  ["OTEL_TRACES_SAMPLER", ["sometimes", "ratio"], "one of always_on, always_off, traceidratio, parentbased_always_on"],
  ["OTEL_TRACES_SAMPLER_ARG", ["-0.1", "1.1", "half", "1e-3"], "a number from 0 to 1"],
  ["OTEL_SDK_DISABLED", ["yes"], "0 or 1"],
  ["TRACE_CONTEXT_PROVIDERS", ["open ai", "openai,,azure"], "a comma-separated list of providers' ids"],
  ...[
    "FILE_RETENTION",
    "HOLD_TTL",
    "UPSTREAM_CONNECT_TIMEOUT",
    "UPSTREAM_FIRST_TOKEN_TIMEOUT",
    "UPSTREAM_IDLE_TIMEOUT",
    "UPSTREAM_TOTAL_TIMEOUT",
    "CLIENT_DRAIN",
    "SHUTDOWN_GRACE",
    "SWEEP_INTERVAL"
  ].map((name) => [name, ["soon", "0 seconds", "-1 seconds", "Infinity"], "a length of time above zero"] as const),
  ["SHUTDOWN_DELAY", ["soon", "-1 seconds", "25 days"], "a length of time of zero or more"],
  ["FILE_RETENTION", ["36501 days", "99999999999 weeks"], "at most 36500 days"],
  ...["HOLD_TTL", "UPSTREAM_IDLE_TIMEOUT", "UPSTREAM_TOTAL_TIMEOUT", "SHUTDOWN_GRACE", "SWEEP_INTERVAL"].map(
    (name) => [name, ["25 days", "99999999999999999999 days", "1 nanos"], "at most 24 days"] as const
  ),
  ...["OPENAI", "ANTHROPIC", "GEMINI", "VOYAGE", "TAVILY", "FAL", "XAI"].flatMap(
    (prefix) =>
      [
        [`${prefix}_API_KEY`, ["two words", "line\nbreak"], "printable text without spaces"],
        [
          `${prefix}_BASE_URL`,
          ["ftp://host", "host", "https://host/v1?api-version=1", "https://host/#a", "https://u:p@host"],
          "an http or https URL without a query"
        ]
      ] as const
  )
]

describe("an invalid value", () => {
  for (const [variable, texts, allowed] of refused) {
    it.effect(`of ${variable} is reported with the allowed values`, () =>
      Effect.forEach(texts, (text) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(decode({ [variable]: text }))
          assert.strictEqual(error._tag, "StartError")
          assert.isTrue(error.message.startsWith(`${variable} must be `), error.message)
          assert.include(error.message, allowed)
          assert.notInclude(error.message, "\n")
        })
      )
    )
  }

  it.effect("is not repeated in the message, because it may be a secret", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(decode({ DATABASE_URL: "hunter2://user:s3cret@host" }))
      assert.notInclude(error.message, "s3cret")
    })
  )
})

describe("settings", () => {
  it.effect("have defaults", () =>
    Effect.gen(function* () {
      const config = yield* decode({})
      assert.deepStrictEqual(
        {
          http: [config.http.host, config.http.port, config.http.trustedProxies.rules],
          ops: config.ops,
          data: config.data,
          database: config.database,
          redisUrl: config.redisUrl,
          scale: config.rateLimitScale,
          outbound: config.outbound,
          openai: config.providers.openai,
          file: config.providers.file,
          catalogueFile: config.catalogueFile,
          level: config.log.level
        },
        {
          http: ["0.0.0.0", 8787, []],
          ops: { host: "127.0.0.1", port: 9464 },
          data: { directory: resolve(".data"), explicit: false },
          database: { url: undefined, migrates: true, poolSize: 10 },
          redisUrl: undefined,
          scale: 1,
          outbound: { allowLoopback: false },
          openai: { apiKey: undefined, baseUrl: undefined },
          file: undefined,
          catalogueFile: undefined,
          level: "Info"
        }
      )
      const durations = [config.holdTtl, ...Object.values(config.upstream), config.clientDrain].concat(
        config.shutdownDelay,
        config.shutdownGrace,
        config.sweepInterval
      )
      assert.deepStrictEqual(durations.map(Duration.toSeconds), [900, 10, 120, 60, 600, 30, 5, 20, 15])
    })
  )

  it.effect("are decoded, with empty values as absent and surrounding whitespace trimmed", () =>
    Effect.gen(function* () {
      const config = yield* decode({
        PORT: " 80 ",
        HOST: "",
        HOST_NAME: "other",
        DATA_DIR: "here",
        DATABASE_URL: "postgres://user:s3cret@db/tollgate",
        RATE_LIMIT_SCALE: "2.5",
        OUTBOUND_ALLOW_LOOPBACK: "1",
        LATENCY_HEDGE: "1",
        HOLD_TTL: "2 seconds",
        LOG_LEVEL: "DEBUG",
        LOG_FORMAT: "json",
        OPENAI_API_KEY: "sk-planted",
        OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
        TRUSTED_PROXIES: "10.0.0.0/8, ::1"
      })
      assert.deepStrictEqual([config.http.port, config.http.host], [80, "0.0.0.0"])
      assert.deepStrictEqual(config.data, { directory: resolve("here"), explicit: true })
      assert.strictEqual(
        config.database.url && Redacted.value(config.database.url),
        "postgres://user:s3cret@db/tollgate"
      )
      assert.deepStrictEqual([config.rateLimitScale, config.outbound.allowLoopback], [2.5, true])
      assert.isTrue(config.routing.latencyHedge)
      assert.strictEqual(Duration.toSeconds(config.holdTtl), 2)
      assert.deepStrictEqual(config.log, { level: "Debug", format: "json" })
      assert.strictEqual(config.providers.openai.baseUrl?.href, "http://127.0.0.1:9/v1")
      assert.isTrue(config.http.trustedProxies.check("10.1.2.3"))
      assert.isTrue(config.http.trustedProxies.check("::1", "ipv6"))
      assert.isFalse(config.http.trustedProxies.check("11.1.2.3"))
      assert.notMatch(JSON.stringify(config), /s3cret|sk-planted/)
    })
  )

  it.effect("accept a Redis database number, and escapes in a password", () =>
    Effect.gen(function* () {
      for (const url of ["redis://host", "redis://host/", "rediss://ann:p%40ss@host:1/12"]) {
        const { redisUrl } = yield* decode({ REDIS_URL: url })
        assert.strictEqual(redisUrl && Redacted.value(redisUrl), url)
      }
    })
  )

  it.effect("accept a mail server by name or by address", () =>
    Effect.gen(function* () {
      for (const host of ["mail_server:25", "192.0.2.25", "[::1]:25", "böx.example"]) {
        const url = `smtp://ann:p%40ss@${host}`
        const { mail } = yield* decode({ SMTP_URL: url, MAIL_FROM: "ann@example.com" })
        assert.strictEqual(mail && Redacted.value(mail.url), url)
      }
    })
  )

  it.effect("provide the API key from the variable that a host names", () =>
    Effect.gen(function* () {
      const { providers } = yield* decode({ GROQ_KEY: "gsk" })
      const key = yield* providers.keyFrom("GROQ_KEY")
      assert.strictEqual(key && Redacted.value(key), "gsk")
      assert.isUndefined(yield* providers.keyFrom("OTHER_KEY"))
    })
  )

  it.effect("read secrets from files, including those of hosts, and turn the sandbox off", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const path = yield* files.makeTempFileScoped({ prefix: "secret" })
      yield* files.writeFileString(path, "postgres://user:s3cret@db/tollgate\n")
      const config = yield* decode({ DATABASE_URL_FILE: path, GROQ_KEY_FILE: path })
      assert.strictEqual(
        config.database.url && Redacted.value(config.database.url),
        "postgres://user:s3cret@db/tollgate"
      )
      assert.isFalse(config.sandbox)
      const key = yield* config.providers.keyFrom("GROQ_KEY")
      assert.strictEqual(key && Redacted.value(key), "postgres://user:s3cret@db/tollgate")
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))
  )

  const sandbox: ReadonlyArray<readonly [Record<string, string>, boolean]> = [
    [{}, true],
    [{ VOYAGE_API_KEY: "k" }, false],
    [{ DATABASE_URL: "postgres://db/x" }, false],
    [{ DATABASE_URL: "postgres://db/x", SANDBOX: "on" }, true],
    [{ OPENAI_API_KEY: "k", SANDBOX: "on" }, true],
    [{ SANDBOX: "off" }, false],
    [{ OPENAI_BASE_URL: "http://127.0.0.1:1" }, true]
  ]
  it.effect("turn the sandbox on only when neither a provider nor a database is configured", () =>
    Effect.forEach(sandbox, ([variables, on]) =>
      Effect.map(decode(variables), (config) => assert.strictEqual(config.sandbox, on, JSON.stringify(variables)))
    )
  )

  const hostsFiles: ReadonlyArray<readonly [file: string, variables: Record<string, string>, on: boolean]> = [
    [JSON.stringify([{ id: "groq", api_key_env: "GROQ_KEY" }]), { GROQ_KEY: "gsk" }, false],
    [JSON.stringify([{ id: "groq", api_key_env: "GROQ_KEY" }]), { GROQ_KEY: "gsk", SANDBOX: "on" }, true],
    [JSON.stringify([{ id: "groq", api_key_env: "GROQ_KEY" }]), { GROQ_KEY: "" }, true],
    [JSON.stringify([{ id: "ollama" }]), { GROQ_KEY: "gsk" }, true],
    ["no list", { GROQ_KEY: "gsk" }, true]
  ]
  it.effect("turn the sandbox off when a host of the providers file has a key", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      for (const [file, variables, on] of hostsFiles) {
        const path = yield* files.makeTempFileScoped({ prefix: "providers", suffix: ".json" })
        yield* files.writeFileString(path, file)
        const { sandbox } = yield* decode({ ...variables, PROVIDERS_FILE: path })
        assert.strictEqual(sandbox, on, `${file} ${JSON.stringify(variables)}`)
      }
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})

describe("the settings of account owners' messages", () => {
  const letters = { SMTP_URL: "smtps://ann:s3cret@mail.example.com", MAIL_FROM: "Ann <ann@example.com>" }
  const texts = {
    TWILIO_ACCOUNT_SID: `AC${"0".repeat(32)}`,
    TWILIO_AUTH_TOKEN: "s3cret",
    TWILIO_VERIFY_SERVICE_SID: `VA${"1".repeat(32)}`
  }

  it.effect("configure the mail server and Twilio, with redacted secrets", () =>
    Effect.gen(function* () {
      const none = yield* decode({})
      assert.deepStrictEqual([none.mail, none.twilio], [undefined, undefined])
      const { mail, twilio } = yield* decode({ ...letters, ...texts })
      assert(mail !== undefined && twilio !== undefined)
      assert.deepStrictEqual([Redacted.value(mail.url), mail.from], [letters.SMTP_URL, letters.MAIL_FROM])
      assert.deepStrictEqual(
        [twilio.accountSid, Redacted.value(twilio.authToken), twilio.serviceSid, twilio.baseUrl.href],
        [...Object.values(texts), "https://verify.twilio.com/"]
      )
      assert.notMatch(JSON.stringify([mail, twilio]), /s3cret/)
      const { twilio: elsewhere } = yield* decode({ ...texts, TWILIO_BASE_URL: "http://localhost:1/twilio" })
      assert.strictEqual(elsewhere?.baseUrl.href, "http://localhost:1/twilio")
    })
  )

  it.effect("are required together for mail, and together for Twilio", () =>
    Effect.gen(function* () {
      const unsigned = yield* Effect.flip(decode({ ...letters, MAIL_FROM: "" }))
      assert.strictEqual(unsigned.message, "MAIL_FROM must be set when SMTP_URL is")
      assert.isUndefined((yield* decode({ MAIL_FROM: letters.MAIL_FROM })).mail)
      for (const name of Object.keys(texts)) {
        const error = yield* Effect.flip(decode({ ...texts, [name]: "" }))
        assert.strictEqual(error.message, `${name} must be set when Twilio verifies phone numbers`)
      }
    })
  )
})

describe("the settings of files", () => {
  const bucket = { S3_BUCKET: "media", S3_ACCESS_KEY_ID: "id", S3_SECRET_ACCESS_KEY: "s3cret" }

  it.effect("keep files locally for thirty days unless a bucket is set", () =>
    Effect.gen(function* () {
      const { files, http } = yield* decode({})
      assert.deepStrictEqual([Duration.toDays(files.retention), files.s3], [30, undefined])
      assert.isUndefined(http.publicUrl)
    })
  )

  it.effect("keep files in the region's Amazon bucket, or in another store", () =>
    Effect.gen(function* () {
      const { s3: amazon } = (yield* decode({ ...bucket, S3_REGION: "eu-west-1" })).files
      assert(amazon !== undefined)
      assert.strictEqual(amazon.endpoint.origin, "https://s3.eu-west-1.amazonaws.com")
      assert.deepStrictEqual([amazon.bucket, amazon.region, amazon.pathStyle], ["media", "eu-west-1", true])
      assert.strictEqual(Redacted.value(amazon.secretAccessKey), "s3cret")
      assert.notMatch(JSON.stringify(amazon), /s3cret/)
      const other = { ...bucket, S3_ENDPOINT: "http://minio:9000/", S3_FORCE_PATH_STYLE: "0" }
      const { s3: minio } = (yield* decode(other)).files
      assert.deepStrictEqual(
        [minio?.endpoint.origin, minio?.region, minio?.pathStyle],
        ["http://minio:9000", "us-east-1", false]
      )
    })
  )

  it.effect("are required together for a bucket", () =>
    Effect.gen(function* () {
      for (const name of Object.keys(bucket)) {
        const error = yield* Effect.flip(decode({ ...bucket, [name]: "" }))
        assert.strictEqual(error.message, `${name} must be set when files are kept in S3`)
      }
      const error = yield* Effect.flip(decode({ S3_ENDPOINT: "http://minio:9000" }))
      assert.match(error.message, /^S3_BUCKET /)
    })
  )

  it.effect("place file URLs below PUBLIC_URL, with or without a trailing slash", () =>
    Effect.gen(function* () {
      const at = (url: string) => Effect.map(decode({ PUBLIC_URL: url }), ({ http }) => http.publicUrl)
      assert.strictEqual(yield* at("https://api.example.com"), "https://api.example.com")
      assert.strictEqual(yield* at("https://api.example.com/gate/"), "https://api.example.com/gate")
    })
  )
})
