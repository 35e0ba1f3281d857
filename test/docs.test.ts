/** The documents say what is so: what they list is compared with the program, and what they show is run. */
import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Effect, Result } from "effect"
import { TestConsole } from "effect/testing"
import { execFile, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { run as command } from "../src/admin/Commands.ts"
import { table } from "../src/http/Failures.ts"
import { catalogueFile } from "../src/catalogue/CatalogueFile.ts"
import { modelIds } from "../src/catalogue/models.ts"
import { Config } from "../src/platform/Config.ts"
import { WINDOW_MINUTES, THIN_BELOW_SAMPLES } from "../src/catalogue/LiveFigures.ts"
import { defaultPolicy, type Strategy } from "../src/domain/Plan.ts"
import { MAX_CHAIN } from "../src/router/Chain.ts"
import { restrictionsOf } from "../src/router/Restrictions.ts"
import { FIGURES_LIFE_MS } from "../src/router/Standings.ts"
import {
  EXPLORATION_SHARE,
  explorationPriceBound,
  LOWEST_SUCCESS_RATE,
  PRIOR_SAMPLES,
  PRIOR_SUCCESS_RATE,
  weights
} from "../src/router/Strategy.ts"
import { parseSteering } from "../src/providers/sandbox/Steering.ts"
import { freshDatabase } from "./support/Database.ts"
import { quoted, tableIn } from "./support/Documents.ts"
import { operations } from "./support/Published.ts"
import { settingNames } from "./support/Settings.ts"
import { post, startService } from "./support/Service.ts"
import { root, textOf } from "./support/Sources.ts"

const readme = textOf("README.md")
const routing = textOf("docs/routing.md")
const documents = ["README.md", "CONTRIBUTING.md", "src/ARCHITECTURE.md", "docs/dialects.md", "docs/routing.md"]

const tableOf = (heading: string, text = readme) => tableIn(text, heading)

/** The texts of the blocks of code in this language. */
const blocks = (language: string): ReadonlyArray<string> =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((found) => found[1]!)

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const run = (program: string, args: ReadonlyArray<string>, env: Record<string, string> = {}): Effect.Effect<Ended> =>
  Effect.callback((resume) => {
    const options = { cwd: root, env: { ...process.env, ...env } }
    execFile(program, args, options, (error, stdout, stderr) =>
      resume(Effect.succeed({ code: typeof error?.code === "number" ? error.code : error ? 1 : 0, stdout, stderr }))
    )
  })

const curl = spawnSync("curl", ["--version"]).status === 0
if (!curl) console.log("not run: the README's requests, because there is no curl")

/** What is shown by requests that are not for models. */
const shownBy = [
  ["/management/", /"data":\{"id":/],
  ["/console/", /"status":"code_sent"/],
  ["/readyz", /^ready$/m]
] as const

describe("the README", () => {
  it("says how to start and how to test", () => {
    const lines = readme.split("\n")
    assert.include(lines, "npm ci && npm start")
    assert.include(lines, "npm ci && npm test")
    assert.include(textOf("CONTRIBUTING.md").split("\n"), "npm ci && npm test")
    assert.isTrue(textOf(".ci/run").endsWith("\nnpm ci && npm test\n"))
  })

  it.effect("lists every setting, and no other", () =>
    Effect.gen(function* () {
      const mentioned = readme.slice(readme.indexOf("## Settings"), readme.indexOf("`PROVIDERS_FILE` is a JSON"))
      const names = quoted(mentioned).filter((word) => /^[A-Z][A-Z0-9]*(_[A-Z]+)*$/.test(word) && word !== "SIGTERM")
      assert.sameMembers([...new Set(names)], [...(yield* settingNames)])
    })
  )

  it.effect("says their defaults", () =>
    Effect.gen(function* () {
      const decode = (variables: Record<string, string>) =>
        Effect.map(Config.pipe(Effect.provide(Config.layerFrom(variables))), ({ data, ...settings }) =>
          JSON.stringify([settings, data.directory])
        )
      const untold = yield* decode({})
      const rows = tableOf("Variable").filter(([, value]) => value !== "")
      assert.isNotEmpty(rows)
      for (const [names = "", value = ""] of rows) {
        const [name = ""] = quoted(names)
        assert.strictEqual(yield* decode({ [name]: quoted(value)[0] ?? "" }), untold, name)
      }
    })
  )

  it("lists every error by its status", () => {
    const said = tableOf("Status").flatMap(([status, codes = ""]) => quoted(codes).map((code) => `${status} ${code}`))
    const made = Object.values(table).map(({ code, status }) => `${status} ${code}`)
    assert.sameMembers([...said], [...new Set(made)])
  })

  it("lists every operation, with its credential and its charge", () => {
    const said = tableOf("Operation").flatMap(([names = "", needs, charged]) =>
      quoted(names).map((name) => `${name}: ${needs}, ${charged}`)
    )
    const words = {
      "inference key": "inference key",
      "management key": "management key",
      session: "session of the console",
      none: "nothing",
      free: "free",
      tokens: "tokens used",
      characters: "characters of the input",
      requests: "each query",
      images: "each image",
      seconds: "each second"
    }
    const made = operations.map(
      ({ charge, credential, method, path }) => `${method} ${path}: ${words[credential]}, ${words[charge]}`
    )
    assert.sameMembers([...said], made)
  })

  it("lists every way to steer the sandbox", () => {
    const [rows, refused] = [tableOf("Key"), parseSteering("nothing=1,fault=nothing")]
    const problems = Result.isFailure(refused) ? refused.failure.map(({ message }) => message) : []
    const listed = (after: string) =>
      problems
        .find((text) => text.includes(after))
        ?.split(after)[1]
        ?.split(", ") ?? []
    assert.sameMembers([...rows.flatMap(([keys = ""]) => quoted(keys))], listed("is none of "))
    const faults = rows.find(([key]) => key === "`fault`")?.[1] ?? ""
    assert.sameMembers([...quoted(faults)], listed("must be one of "))
    assert.isTrue(Result.isSuccess(parseSteering("fault=break,after=3")))
  })

  it("maps in its providers file a model that there is", () => {
    const [[host]] = blocks("json").map((text) => JSON.parse(text)) as [[{ readonly models: object }]]
    assert.isNotEmpty(Object.keys(host.models))
    for (const id of Object.keys(host.models)) assert.isTrue(modelIds.has(id), id)
  })

  it.effect("shows a catalogue file that is taken", () =>
    Effect.gen(function* () {
      const directory = mkdtempSync(join(tmpdir(), "tollgate-test-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
      const path = join(directory, "catalogue.json")
      writeFileSync(path, blocks("json")[1] ?? "")
      const { load } = yield* catalogueFile({ path, hosts: [] })
      assert.isTrue(Object.values(yield* load).every((list) => list.length === 1))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("shows calls of clients that work", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const directory = yield* Effect.acquireRelease(
        // Below the project, so that the client's package is found.
        Effect.sync(() => mkdtempSync(join(root, "node_modules", ".readme-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      )
      const examples = blocks("js")
      assert.lengthOf(examples, 2)
      for (const [index, example] of examples.entries()) {
        const file = join(directory, `example-${index}.mjs`)
        writeFileSync(file, example.replace("http://127.0.0.1:8787", service.origin))
        const { code, stderr, stdout } = yield* run(process.execPath, [file], { KEY: inferenceKey })
        assert.strictEqual(code, 0, stderr)
        assert.match(stdout, /0\.\d+ req_[0-9A-Z]{26}\n$/)
      }
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!curl)("shows requests that work", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account(10)
      const keys = { KEY: inferenceKey, MANAGEMENT_KEY: managementKey }
      const requests = blocks("sh").flatMap((text) =>
        text
          .replace(/\\\n\s*/g, " ")
          .split("\n")
          .filter((line) => line.startsWith("curl "))
      )
      assert.lengthOf(requests, 13)
      for (const request of requests) {
        const command = request
          .replace("http://127.0.0.1:8787", service.origin)
          .replace("http://127.0.0.1:9464", service.ops)
          .replace("curl ", "curl -fsS ")
        const { code, stderr, stdout } = yield* run("sh", ["-c", command], keys)
        assert.strictEqual(code, 0, `${request}\n${stderr}`)
        const shown = shownBy.find(([part]) => request.includes(part))?.[1] ?? /"(cost|hold)_usd":/
        assert.match(stdout, shown, request)
      }
    }).pipe(Effect.scoped)
  )

  it.live("lists every metric, and no other", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const body = { model: "gpt-4o-mini", stream: true, messages: [{ role: "user", content: "Hello!" }] }
      const response = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
      yield* Effect.promise(() => response.text())
      const text = yield* Effect.promise(() => fetch(`${service.ops}/metrics`).then((answer) => answer.text()))
      const made = [...text.matchAll(/^# TYPE (\w+) /gm)].map((found) => found[1]!)
      const said = tableOf("Metric").flatMap(([names = ""]) => quoted(names))
      assert.sameMembers(
        said.map((name) => name.replaceAll(".", "_")),
        made
      )
    }).pipe(Effect.scoped)
  )

  it.live("shows commands that work", () =>
    Effect.gen(function* () {
      const env = {
        DATABASE_URL: yield* freshDatabase("readme"),
        DATA_DIR: yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-readme-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
        )
      }
      const settings = ConfigProvider.fromEnv({ env })
      const admin = (words: string) =>
        Effect.gen(function* () {
          const code = yield* command(words.split(" "))
          return { code, said: [...(yield* TestConsole.logLines), ...(yield* TestConsole.errorLines)].join("\n") }
        }).pipe(Effect.provide([TestConsole.layer, NodeServices.layer, ConfigProvider.layer(settings)]))
      const block = blocks("sh").find((text) => text.includes("account create")) ?? ""
      const commands = block.trimEnd().split("\n")
      assert.isAbove(commands.length, 5)
      let id = ""
      for (const line of commands) {
        const words = line.replace(/^npm run admin -- /, "").replace("0123456789abcdef01234567", id)
        assert.notStrictEqual(words, line)
        const { code, said } = yield* admin(words)
        assert.strictEqual(code, 0, `${line}\n${said}`)
        id = /^The inference key ([0-9a-f]{24})/.exec(said)?.[1] ?? id
      }
    }).pipe(Effect.scoped)
  )
})

describe("the page on routing", () => {
  const strategies = Object.keys(weights) as ReadonlyArray<Strategy>

  it("says what each strategy weighs", () => {
    const figures = ["price", "successRate", "medianTtft", "p50", "p95", "preferred"] as const
    const said = tableOf(`Strategy \\| ${figures.map((name) => `\`${name}\``).join(" \\| ")}`, routing)
    const made = strategies.map((name) => [`\`${name}\``, ...figures.map((figure) => weights[name][figure])])
    assert.deepStrictEqual(
      said.map(([name, ...cells]) => [name, ...cells.map(Number)]),
      made
    )
    for (const name of strategies) assert.sameMembers(Object.keys(weights[name]), [...figures])
  })

  it("says its constants", () => {
    const bounds = strategies.map((name) => {
      const bound = explorationPriceBound[name]
      return [`\`${name}\``, bound === undefined ? "never explores" : `${bound} ×`]
    })
    assert.deepStrictEqual(tableOf("Strategy \\| At most", routing), bounds)
    assert.include(routing, `in ${EXPLORATION_SHARE * 100} % of requests`)
    assert.include(routing, `if there had been ${PRIOR_SAMPLES} attempts more, at ${PRIOR_SUCCESS_RATE * 100} %`)
    assert.include(routing, `\`n² / (n² + ${PRIOR_SAMPLES}²)\``)
    assert.include(routing, `the last ${WINDOW_MINUTES} minutes`)
    assert.include(routing, `\`thin\` with fewer than ${THIN_BELOW_SAMPLES}`)
    assert.approximately(LOWEST_SUCCESS_RATE, 1 - 1 / 5, 1e-9)
    assert.strictEqual(FIGURES_LIFE_MS, 1_000)
    assert.include(routing, `up to ${MAX_CHAIN}`)
  })

  it("lists every restriction", () => {
    const policy = {
      ...defaultPolicy,
      only: [],
      ignore: ["p"],
      dataPolicy: "no_training",
      requireParameters: true
    } as const
    const asked = { policy: { ...policy, maxPrice: { prompt: 0 } }, parameters: ["tools"], promptBound: 1 }
    const said = tableOf("`routing`", routing).map(([name = ""]) => quoted(name)[0])
    assert.deepStrictEqual(
      said,
      restrictionsOf(asked).map(({ name }) => name)
    )
  })
})

describe("every document", () => {
  it("links to what is there", () => {
    for (const document of documents) {
      for (const [, link = ""] of textOf(document).matchAll(/\]\(([^)#]+)\)/g)) {
        if (!link.startsWith("https://")) assert.isTrue(existsSync(join(root, dirname(document), link)), link)
      }
    }
  })

  it("names scripts that there are", () => {
    const { scripts } = JSON.parse(textOf("package.json"))
    for (const document of documents) {
      for (const [, script = ""] of textOf(document).matchAll(/npm run (?:-s )?([a-z:]+)/g)) {
        assert.property(scripts, script, document)
      }
    }
  })

  it("names files that there are", () => {
    for (const document of documents) {
      const paths = quoted(textOf(document)).filter(
        (word) => /^[\w./-]+\.(ts|json|txt)$/.test(word) && word.includes("/")
      )
      for (const path of paths) {
        const places = [path, join("src", path), join("src/platform", path)]
        assert.isTrue(
          places.some((place) => existsSync(join(root, place))),
          `${document}: ${path}`
        )
      }
    }
  })

  it("has every room and every package in the architecture", () => {
    const text = textOf("src/ARCHITECTURE.md")
    const { dependencies, devDependencies } = JSON.parse(textOf("package.json"))
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      assert.isTrue(new RegExp(`^\\|.*\`${name}\`.*\\|.*\\|$`, "m").test(text), name)
    }
    const named = [...text.matchAll(/^\| `([@\w/-]+)`/gm)].map((found) => found[1]!)
    for (const name of named.filter((one) => /^[a-z]+\/?$/.test(one))) {
      const known = name in { ...dependencies, ...devDependencies }
      assert.isTrue(known || existsSync(join(root, "src", name)) || existsSync(join(root, name)), name)
    }
  })
})
