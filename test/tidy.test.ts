/** House rules. A failure names the file and what to do instead. */
import { assert, describe, it } from "@effect/vitest"
import { stripTypeScriptTypes } from "node:module"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { functionsIn } from "./support/Functions.ts"
import {
  filesBelow,
  type Import,
  lineAt,
  packageOf,
  root,
  type Source,
  circlesIn,
  sourcesBelow,
  textOf,
  withoutComments
} from "./support/Sources.ts"

// ---- the rules as data

/** Every room in the order of imports, with the earlier rooms that it may import. Files in no room may import all. */
const rooms: Readonly<Record<string, ReadonlyArray<string>>> = {
  schemas: [],
  domain: ["schemas"],
  platform: [],
  notifications: ["domain", "platform"],
  account: ["schemas", "domain", "platform", "notifications"],
  auth: ["schemas", "domain", "account"],
  ratelimit: ["platform"],
  catalogue: ["schemas", "domain", "platform"],
  presets: ["schemas", "domain", "platform", "account"],
  router: ["domain", "catalogue"],
  ledger: ["domain", "platform"],
  usage: ["domain", "platform", "account", "ledger"],
  cache: ["domain", "platform"],
  sessions: ["domain", "platform"],
  jobs: ["platform"],
  webhooks: ["domain", "platform", "notifications", "account"],
  billing: ["domain", "platform", "account", "auth", "ledger", "usage"],
  operator: ["domain", "platform", "account", "usage"],
  providers: ["domain", "platform"],
  inference: ["schemas", "domain", "platform", "auth", "catalogue", "router", "ledger", "usage", "cache", "providers"],
  videos: ["domain", "platform", "auth", "router", "ledger", "usage", "jobs", "webhooks", "providers", "inference"],
  batches: ["schemas", "domain", "platform", "account", "auth", "ledger", "usage", "jobs", "inference"],
  workers: ["domain", "platform", "notifications", "account", "ledger", "usage", "jobs", "webhooks", "billing"],
  dialects: ["schemas", "domain"],
  documentation: [],
  client: ["schemas"],
  console: ["client"],
  http: [
    "schemas",
    "domain",
    "platform",
    "notifications",
    "account",
    "auth",
    "ratelimit",
    "catalogue",
    "presets",
    "router",
    "ledger",
    "usage",
    "cache",
    "sessions",
    "webhooks",
    "billing",
    "operator",
    "providers",
    "inference",
    "videos",
    "batches",
    "dialects",
    "documentation"
  ],
  mcp: [
    "schemas",
    "domain",
    "platform",
    "account",
    "auth",
    "catalogue",
    "presets",
    "ledger",
    "usage",
    "providers",
    "inference",
    "videos",
    "dialects",
    "http"
  ]
}

/** Files in no room. They join the rooms, start the gateway and are the command line, and may import all rooms. */
const joining = new Set(["App.ts", "AppProviders.ts", "Demo.ts", "Greeting.ts", "main.ts", "admin.ts", "admin"])

/** Packages whose interface may change, or that connect to other systems, and the only rooms that may import them. */
const packages: Readonly<Record<string, ReadonlyArray<string>>> = {
  "@effect/sql-pg": ["platform", "ledger"],
  "@effect/opentelemetry": ["platform"],
  "@opentelemetry/api": ["platform"],
  "@opentelemetry/core": ["platform"],
  "@opentelemetry/exporter-logs-otlp-http": ["platform"],
  "@opentelemetry/exporter-logs-otlp-proto": ["platform"],
  "@opentelemetry/exporter-metrics-otlp-http": ["platform"],
  "@opentelemetry/exporter-metrics-otlp-proto": ["platform"],
  "@opentelemetry/exporter-trace-otlp-http": ["platform"],
  "@opentelemetry/exporter-trace-otlp-proto": ["platform"],
  "@opentelemetry/resources": ["platform"],
  "@opentelemetry/sdk-logs": ["platform"],
  "@opentelemetry/sdk-metrics": ["platform"],
  "@opentelemetry/sdk-trace-base": ["platform"],
  "@pydantic/genai-prices": ["catalogue"],
  "gpt-tokenizer": ["domain"],
  "@cfworker/json-schema": ["providers"],
  "@resvg/resvg-wasm": ["providers"],
  "dejavu-fonts-ttf": ["providers"],
  "h264-mp4-encoder": ["providers"],
  aws4fetch: ["platform"],
  nodemailer: ["platform"],
  redis: ["platform"],
  stripe: ["billing"],
  "libphonenumber-js": ["billing"],
  undici: ["platform"],
  "ipaddr.js": ["platform"],
  marked: ["documentation", "console"],
  "highlight.js": ["documentation", "console"],
  "@fontsource-variable/inter": ["http", "console"],
  "@fontsource-variable/jetbrains-mono": ["http", "console"],
  "@tanstack/react-query": ["console"],
  "@tanstack/react-router": ["console"],
  "@tanstack/react-virtual": ["console"],
  react: ["console"],
  "react-dom": ["console"],
  vite: ["console"],
  "@effect/platform-node": ["platform", "http"]
}

/** Rooms of pure functions, which use no service. */
const pure = new Set(["domain", "dialects"])

/** A pattern that is forbidden in the code, and the paths in `src` that may have it. A path that ends in a slash is a room. */
interface Forbidden {
  readonly what: RegExp
  readonly instead: string
  readonly allowed: ReadonlyArray<string>
}

const forbidden: ReadonlyArray<Forbidden> = [
  {
    what: /\bprocess\.env\b|\bimport\.meta\.env\b|\bConfigProvider\b/,
    instead: "read it in platform/config/Config.ts and take it from the service Config",
    // The console shows code to copy, which reads the key from its own environment.
    allowed: ["platform/config/Config.ts", "console/data/Snippets.ts"]
  },
  {
    what: /\bsql(<[^`(]*>)?`|\b(sql|client|transaction)\.unsafe\b/,
    instead: "put the statement into a function of a file named *Sql.ts",
    allowed: ["platform/database/Sql.ts", "platform/database/Migrations.ts", "platform/database/EmbeddedPostgres.ts"]
  },
  {
    // Adapters, the outbound client and webhooks read statuses of other servers. They send none.
    what: /\bstatus\w*\s*(===?|!==?|[<>]=?|:)\s*[1-5]\d\d\b|\breturn\s+[45]\d\d\b|\bhttpApiStatus\b/,
    instead: "fail with a reason of domain/Failure.ts; its status stands in the table of http/FailureRows.ts",
    allowed: [
      "http/",
      "dialects/",
      // The only file of the MCP server that uses HTTP.
      "mcp/Endpoint.ts",
      "providers/",
      "webhooks/Schedule.ts",
      "platform/outbound/OutboundExchange.ts",
      "platform/outbound/PublicFetch.ts",
      "platform/messaging/PhoneVerification.ts",
      "platform/files/S3Bucket.ts",
      "platform/files/S3Files.ts",
      // It reads the gateway's statuses, and sends none.
      "console/data/Client.ts"
    ]
  },
  {
    what: /\bHttpServer(Request|Response)\b/,
    instead: "let http read requests and make responses",
    allowed: ["http/", "mcp/Endpoint.ts"]
  },
  {
    what: /\.orDie\b/,
    instead:
      "fail with a reason, such as Unavailable of platform/database/Sql.ts; a defect is for a mistake in the program",
    allowed: []
  },
  {
    what: /\bconsole\.\w+\(/,
    instead: "Effect.log, so that level and format are the operator's",
    // Code that the console shows to copy.
    allowed: ["console/data/Snippets.ts", "console/data/MediaSnippets.ts"]
  },
  {
    // Not the type of a constant: `const end: Runtime.Teardown = () => ...`.
    what: /(?<!:[ \t]*[\w.]*)[\])}\w]!?\.#?\w+\s*(\?\?|\|\||&&)?=\s*(async\s+)?(function\b|(<[^=>]*>\s*)?(\((?:[^()]|\([^()]*\))*\)|\w+)(:\s*[^=;\n]+)?\s*=>)/,
    instead: "give the function a name first, then assign that: a function assigned where it is written is old at once",
    allowed: []
  }
]

/** The largest number of lines in a file, including comments. */
const FILE_LINES = 400

/** The largest number of lines in a function, without named functions inside it. */
const FUNCTION_LINES = 70

/** Names that do not describe the content. */
const emptyNames = /^(utils?|common|helpers?|misc|shared|lib|types|services|layers|interfaces|index)$/i

/** Names that two files of a room export. This list may only get shorter. */
const repeatedNames: ReadonlySet<string> = new Set([
  "account: revokeKeysOf",
  "http: messageOf",
  "http: named",
  "http: sessionOf",
  "platform: headerOf"
])

/** Files of src with logic but without a test file of their own, and the test that covers them. This list may only get shorter. */
const gaps: Readonly<Record<string, string>> = {
  "src/main.ts": "test/journeys/Start.test.ts",
  "src/AppProviders.ts": "test/App.test.ts",
  "src/catalogue/Providers.ts": "test/catalogue/Snapshot.test.ts",
  "src/catalogue/PublishedPrices.ts": "test/catalogue/Snapshot.test.ts",
  "src/catalogue/Serving.ts": "test/catalogue/Snapshot.test.ts",
  "src/catalogue/models.ts": "test/catalogue/Listing.test.ts",
  "src/domain/Conversation.ts": "test/dialects/chat/ChatDecode.test.ts",
  "src/domain/Failure.ts": "test/http/Failures.test.ts",
  "src/http/edge/Exchange.ts": "test/http/edge/Edge.test.ts",
  "src/inference/Answer.ts": "test/journeys/Idempotency.test.ts",
  "src/inference/ChatFlow.ts": "test/inference/Inference.test.ts",
  "src/inference/Admission.ts": "test/inference/Inference.test.ts",
  "src/inference/Replay.ts": "test/journeys/Idempotency.test.ts",
  "src/inference/RollingHold.ts": "test/journeys/Streams.test.ts",
  "src/inference/StreamFlow.ts": "test/journeys/Streams.test.ts",
  "src/platform/database/DataDirectory.ts": "test/platform/database/EmbeddedPostgres.test.ts",
  "src/platform/database/PostgresBinaries.ts": "test/platform/database/EmbeddedPostgres.test.ts",
  "src/providers/wire/HttpChat.ts": "test/providers/openai/OpenAi.test.ts",
  "src/providers/ProviderError.ts": "test/providers/Failure.test.ts",
  "src/providers/wire/Json.ts": "test/providers/openai/ChatDecode.test.ts",
  "src/providers/sandbox/Answer.ts": "test/providers/sandbox/Sandbox.test.ts",
  "src/ratelimit/Store.ts": "test/ratelimit/RateLimiter.test.ts",
  "src/usage/Requests.ts": "test/journeys/Receipts.test.ts"
}

// ---- the files that the rules check

const src = sourcesBelow("src")
const schemas = sourcesBelow("schemas")
const tests = sourcesBelow("test")
const everything = filesBelow("")
const own = "test/tidy.test.ts"
const generated = "src/client/Contract.ts"

const order = Object.keys(rooms)

/** Returns the room of a file, or undefined if it is in none. */
const roomOf = (path: string): string | undefined => {
  const [top, room, ...rest] = path.split("/")
  if (top === "schemas") return top
  return top === "src" && rest.length > 0 && !joining.has(room ?? "") ? room : undefined
}

const none = (problems: ReadonlyArray<string>) => assert.deepStrictEqual([...new Set(problems)], [])

/** Every import of the program, with its file. */
const imports: ReadonlyArray<{ readonly source: Source; readonly one: Import }> = [...src, ...schemas].flatMap(
  (source) => source.imports.map((one) => ({ source, one }))
)

const at = (source: Source, index: number) => `${source.path}:${lineAt(source.code, index)}`

const matches = (source: Source, what: RegExp) => [...source.code.matchAll(new RegExp(what, `g${what.flags}`))]

// ---- the rules

describe("rooms", () => {
  it("are all listed, and every file is in one", () => {
    const there = new Set(src.map(({ path }) => roomOf(path)).filter((room) => room !== undefined))
    none([
      ...[...there].filter((room) => !order.includes(room)).map((room) => `src/${room}: give it a place in \`rooms\``),
      ...order.filter((room) => room !== "schemas" && !there.has(room)).map((room) => `${room}: no such room`),
      ...src
        .filter(({ path }) => roomOf(path) === undefined && !joining.has(path.split("/")[1] ?? ""))
        .map(({ path }) => `${path}: put it into a room`)
    ])
  })

  it("import earlier rooms only", () =>
    none(
      order.flatMap((room) =>
        rooms[room]!.filter((other) => order.indexOf(other) >= order.indexOf(room)).map(
          (other) => `${room} may not use ${other}: it comes later in \`rooms\``
        )
      )
    ))

  it("import only the rooms that their list allows", () =>
    none(
      imports.flatMap(({ one, source }) => {
        const [from, to] = [roomOf(source.path), one.file === undefined ? undefined : roomOf(one.file)]
        if (from === undefined || one.file === undefined || from === to || rooms[from]?.includes(to ?? "")) return []
        return [
          `${source.path}:${one.line} imports ${one.file}: take what it gives as a value or a parameter, or add the edge ` +
            `${from} → ${to ?? "the joining files"} to \`rooms\``
        ]
      })
    ))

  it("import every room on their list", () => {
    const used = new Set(
      imports.map(({ one, source }) => `${roomOf(source.path)} → ${one.file === undefined ? "" : roomOf(one.file)}`)
    )
    none(
      order.flatMap((room) =>
        rooms[room]!.filter((other) => !used.has(`${room} → ${other}`)).map(
          (other) => `${room} → ${other} is unused: remove it from \`rooms\``
        )
      )
    )
  })

  it("have no circular imports, including types", () => none(circlesIn([...src, ...schemas])))

  it("import each package only in the rooms that own it", () =>
    none(
      imports.flatMap(({ one, source }) => {
        const [room, name] = [roomOf(source.path), packageOf(one)]
        if (room === undefined || name === undefined || name === "effect") return []
        if (room === "schemas") return [`${source.path}:${one.line} imports ${name}: schemas may import only effect`]
        return packages[name]?.includes(room) === true
          ? []
          : [
              `${source.path}:${one.line} imports ${name}: use the room that has it (${packages[name]?.join() ?? "none"})`
            ]
      })
    ))

  it("of pure functions use no service", () => {
    const services = new Set(
      src.flatMap(({ code }) => [...code.matchAll(/class (\w+) extends Context\.Service/g)].map((found) => found[1]!))
    )
    none(
      imports.flatMap(({ one, source }) =>
        pure.has(roomOf(source.path) ?? "")
          ? one.values
              .filter((name) => one.file?.startsWith("src/") === true && services.has(name))
              .map((name) => `${source.path}:${one.line} uses ${name}: let the caller pass what the code needs`)
          : []
      )
    )
  })

  it("have no adapter that imports the provider pool", () =>
    none(
      imports
        .filter(
          ({ one, source }) =>
            /^src\/providers\/(?!pool\/).+\//.test(source.path) && one.file?.endsWith("/ProviderPool.ts")
        )
        .map(({ one, source }) => `${source.path}:${one.line}: an adapter may import only Provider.ts`)
    ))
})

describe("code", () => {
  it("has forbidden patterns only where they are allowed", () =>
    none(
      src.flatMap((source) =>
        forbidden.flatMap(({ allowed, instead, what }) => {
          const path = source.path.slice("src/".length)
          const exempt = allowed.some((one) => (one.endsWith("/") ? path.startsWith(one) : path === one))
          if (exempt || (instead.includes("*Sql.ts") && path.endsWith("Sql.ts"))) return []
          return matches(source, what).map((found) => `${at(source, found.index)} has ${found[0]}: ${instead}`)
        })
      )
    ))

  it("has no default exports and no barrels", () =>
    none(
      // The client package has one entry file that exports everything.
      [...src, ...schemas, ...tests]
        .filter(({ path }) => path !== "src/client/Package.ts")
        .flatMap((source) =>
          matches(source, /^export default\b|^export (type )?(\*|\{[^}]*\}) *(as \w+ )?from\b/m).map(
            (found) => `${at(source, found.index)}: export it by name where it is defined`
          )
        )
    ))

  it("has no file or folder with a name that does not describe its content", () =>
    none(
      [...src, ...schemas, ...tests].flatMap(({ path }) =>
        path
          .replace(/\.ts$/, "")
          .split("/")
          .filter((name) => emptyNames.test(name))
          .map((name) => `${path}: "${name}" does not describe its content; name it after what it contains`)
      )
    ))

  it("spreads no object literal", () =>
    none(
      [...src, ...schemas, ...tests]
        .filter(({ path }) => path !== own)
        .flatMap((source) =>
          matches(source, /\.\.\.\{/).map((found) => `${at(source, found.index)}: give each member a line of its own`)
        )
    ))

  it("has no file above the limit of lines", () =>
    none(
      [...src, ...schemas]
        .filter(({ path }) => path !== generated)
        .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
        .filter(({ lines }) => lines > FILE_LINES)
        .map(({ lines, path }) => `${path} has ${lines} lines: split it by noun`)
    ))

  it("has no function above the limit of lines", () =>
    none(
      [...src, ...schemas]
        .filter(({ path }) => path !== generated)
        .flatMap(({ path, text }) =>
          functionsIn(path, text)
            .filter(({ lines }) => lines > FUNCTION_LINES)
            .map(
              ({ index, lines, name }) =>
                `${path}:${lineAt(text, index)} ${name} has ${lines} lines: split it by meaning`
            )
        )
    ))

  it("skips no test without printing the reason", () =>
    none(
      tests.flatMap((source) => {
        if (source.path === own) return []
        const never = matches(source, /\b(it|test|describe)(\.\w+)*\.(skip|only|todo|fails)\b/)
        const sometimes = matches(source, /\.(skipIf|runIf)\(|\bctx\.skip\(/)
        const says = /\bannounceSkip\(|\bconsole\.log\(|\bstderr\.write\(/.test(source.code)
        return [
          ...never.map((found) => `${at(source, found.index)} has ${found[0]}: fix the test or remove it`),
          ...sometimes
            .filter(() => !says)
            .map((found) => `${at(source, found.index)} has ${found[0]}: print why, as announceSkip does`)
        ]
      })
    ))
})

describe("an export", () => {
  /** Returns the namespace of a file. Dialects and providers repeat names on purpose, so each of their folders counts as a room. */
  const namespaceOf = (path: string): string => {
    const [, room = "", ...rest] = path.split("/")
    return (room === "dialects" || room === "providers") && rest.length > 1 ? `${room}/${rest[0]}` : room
  }

  it("has a name that no other file of its room exports", () => {
    const places = new Map<string, Set<string>>()
    for (const { code, path } of src.filter((one) => roomOf(one.path) !== undefined)) {
      for (const [, name = ""] of code.matchAll(/^export (?:const|class|function|interface|type) (\w+)/gm)) {
        // Every file that starts background work exports its layer.
        if (name === "layer") continue
        const key = `${namespaceOf(path)}: ${name}`
        places.set(key, (places.get(key) ?? new Set()).add(path))
      }
    }
    none(
      [...places]
        .filter(([key, paths]) => paths.size > 1 && !repeatedNames.has(key))
        .map(([key, paths]) => `${key} is exported by ${[...paths].join(" and ")}: rename one after what differs`)
    )
  })

  const documented = (text: string, index: number) => /\*\/\s*$/.test(text.slice(0, index))

  const exported = [
    ...schemas.flatMap((source) =>
      [...source.text.matchAll(/^export (?:const|class|function|interface) (\w+)/gm)].map((found) => ({
        source,
        found
      }))
    ),
    ...src.flatMap((source) =>
      [...source.text.matchAll(/^export class (\w+) extends/gm)].map((found) => ({ source, found }))
    )
  ].map(({ found, source }) => ({
    name: `${source.path} ${found[1]}`,
    documented: documented(source.text, found.index)
  }))

  it("of a schema or a service has a doc comment", () =>
    none(exported.filter((one) => !one.documented).map((one) => `${one.name}: say in a doc comment what it promises`)))
})

describe("the tests", () => {
  /** Returns whether a file has logic to test, and not only values or types. */
  const hasLogic = ({ text }: Source) => /=>|\bfunction\b|\bclass\b/.test(withoutComments(stripTypeScriptTypes(text)))

  /** Returns whether a file of the console is tested in a browser, because it needs a page or the gateway. */
  const needsBrowser = ({ imports, path }: Source) =>
    path.startsWith("src/console/") &&
    imports.some((one) => packageOf(one) !== undefined || one.file === "src/client/Package.ts")

  const ofBrowser = new Set(src.filter(needsBrowser).map(({ path }) => path))

  /** Returns the test files of a source file. Statements are tested through the service that runs them. */
  const mirrorsOf = (path: string): ReadonlyArray<string> => {
    if (ofBrowser.has(path)) return ["test/console/Journey.test.ts"]
    const test = path.replace(/^src\//, "test/").replace(/\.ts$/, ".test.ts")
    return [test, test.replace(/Sql\.test\.ts$/, ".test.ts")]
  }

  const proved = (path: string) => mirrorsOf(path).some((test) => existsSync(join(root, test)))

  // Only a browser can show elements.
  const logic = src.filter((source) => !source.path.endsWith(".tsx") && hasLogic(source)).map(({ path }) => path)

  it("have a file for every source file with logic", () =>
    none(
      logic
        .filter((path) => !proved(path) && gaps[path] === undefined)
        .map((path) => `${path}: test it in ${mirrorsOf(path)[0]}`)
    ))

  it("cover every listed gap elsewhere, and no gap is out of date", () =>
    none(
      Object.entries(gaps).flatMap(([path, test]) => [
        ...(logic.includes(path) && !proved(path) ? [] : [`"${path}": remove it from \`gaps\``]),
        ...(existsSync(join(root, test)) ? [] : [`"${path}": there is no ${test}`])
      ])
    ))
})

describe("ARCHITECTURE.md", () => {
  const guide = "src/ARCHITECTURE.md"
  const found = (path: string) => existsSync(join(root, "src", path)) || existsSync(join(root, path))

  it("names existing files, and names that they contain", () =>
    none(
      textOf(guide)
        .split("\n")
        .flatMap((line, index) =>
          [...line.matchAll(/`([\w./-]+\/|[\w./-]+\.(?:ts|tsx|sql|json))`(?: \(`(\w+)`\))?/g)].flatMap(
            ([, path = "", name]) => {
              const place = `${guide}:${index + 1}`
              if (!found(path)) return [`${place}: there is no ${path}`]
              return name === undefined || textOf(`src/${path}`).includes(name)
                ? []
                : [`${place}: ${path} has no ${name}`]
            }
          )
        )
    ))
})

describe("the tree", () => {
  const binary = /\.(png|ico|woff2?|gz)$/

  const lines = everything
    .filter((path) => path !== own && !binary.test(path))
    .flatMap((path) =>
      textOf(path)
        .split("\n")
        .map((line, index) => ({ place: `${path}:${index + 1}`, line }))
    )

  const holding = (what: RegExp, instead: string) =>
    none(lines.filter(({ line }) => what.test(line)).map(({ line, place }) => `${place} (${line.trim()}): ${instead}`))

  it("has no TODO or FIXME marks", () =>
    holding(/\b(TODO|FIXME|HACK|XXX)\b/, "do it, or state the limit and its reason"))

  it("contains no path of a developer's machine", () =>
    holding(
      /(^|[\s"'`=(:])\/(work|root|home|farm|Users)\/|\/tmp\/bash_jobs/,
      "make the path from import.meta, or a temporary directory"
    ))

  it("names no package registry", () => {
    holding(/\bregistry\.|\bnpmjs\.|\bnpm\.pkg\.github\b/, "let npm's own settings say where packages come from")
    holding(/"resolved":/, "npm install with omit-lockfile-registry-resolved=true")
  })

  it("has exact versions, equal in package.json and the lockfile", () => {
    const manifest = JSON.parse(textOf("package.json"))
    const { packages: locked } = JSON.parse(textOf("package-lock.json"))
    const wanted: Record<string, string> = { ...manifest.dependencies, ...manifest.devDependencies }
    none(
      Object.entries(wanted).flatMap(([name, version]) => [
        ...(/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) ? [] : [`${name} ${version}: write one exact version`]),
        ...(locked[`node_modules/${name}`]?.version === version ? [] : [`${name} ${version}: run npm install`])
      ])
    )
  })

  it("locks the builds of every platform, which npm ci needs", () => {
    const { packages: locked } = JSON.parse(textOf("package-lock.json"))
    const wanted = Object.values(locked as Record<string, { optionalDependencies?: Record<string, string> }>)
    none(
      wanted
        .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
        .filter((name) => locked[`node_modules/${name}`] === undefined)
        .map((name) => `${name}: npm omitted it; copy its entry from the previous lockfile`)
    )
  })
})
