/** Compares the lists in the documents with the program. `snippets.test.ts` runs their examples. */
import { assert, describe, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Effect, Result } from "effect"
import { TestConsole } from "effect/testing"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { run as command } from "../src/admin/Commands.ts"
import { catalogueFile } from "../src/catalogue/CatalogueFile.ts"
import { modelIds } from "../src/catalogue/models.ts"
import { WINDOW_MINUTES, THIN_BELOW_SAMPLES } from "../src/catalogue/LiveFigures.ts"
import { render } from "../src/documentation/Markdown.ts"
import { defaultPolicy, type Strategy } from "../src/domain/Plan.ts"
import { MAX_CHAIN } from "../src/domain/Chain.ts"
import { restrictionsOf } from "../src/router/Restrictions.ts"
import { FIGURES_LIFE_MS } from "../src/router/MeasuredCandidates.ts"
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
import { HOST_KINDS, HostQuirks } from "../src/platform/config/HostQuirks.ts"
import { loadProvidersFile } from "../src/platform/config/ProvidersFile.ts"
import { blocksIn, pagesOfDocs, quoted, tableIn } from "./support/Documents.ts"
import { settingNames } from "./support/Settings.ts"
import { post, startService } from "./support/Service.ts"
import { root, textOf } from "./support/Sources.ts"
import { eventually } from "./support/Eventually.ts"

const routing = textOf("docs/guide/models-and-routing.md")
const documents = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "src/ARCHITECTURE.md", ...pagesOfDocs]

const providersPage = textOf("docs/operate/providers.md")

describe("the README", () => {
  it("states how to start and how to test, in at most 150 lines", () => {
    const lines = textOf("README.md").split("\n")
    assert.include(lines, "npm ci && npm start")
    assert.include(lines, "npm ci && npm test")
    assert.isAtMost(lines.length, 151)
    assert.include(textOf("CONTRIBUTING.md").split("\n"), "npm ci && npm test")
    assert.include(textOf(".ci/run"), "npm ci && npm test")
  })

  it("links to every page for users and operators", () => {
    const readme = textOf("README.md")
    for (const path of pagesOfDocs.filter((one) => /^docs\/(guide|operate|reference)\//.test(one))) {
      assert.include(readme, `](${path})`)
    }
  })
})

describe("the guides", () => {
  it("list every key and fault of the sandbox's header", () => {
    const sandbox = textOf("docs/guide/sandbox.md")
    const [rows, refused] = [tableIn(sandbox, "Key"), parseSteering("nothing=1,fault=nothing")]
    const problems = Result.isFailure(refused) ? refused.failure.map(({ message }) => message) : []
    const listed = (after: string) =>
      problems
        .find((text) => text.includes(after))
        ?.split(after)[1]
        ?.split(", ") ?? []
    assert.sameMembers([...rows.flatMap(([keys = ""]) => quoted(keys))], listed("the keys are "))
    const faults = rows.find(([key]) => key === "`fault`")?.[1] ?? ""
    assert.sameMembers([...quoted(faults)], listed("must be one of "))
    assert.isTrue(Result.isSuccess(parseSteering("fault=break,after=3")))
  })

  it("name only existing settings", () => {
    const known = new Set(settingNames)
    const shaped = /^(?:[A-Z][A-Z0-9]*_)+[A-Z]+$/
    for (const path of pagesOfDocs.filter((one) => /^docs\/(guide|operate)\//.test(one))) {
      const names = quoted(textOf(path)).filter((word) => shaped.test(word) && !HOST_VARIABLES.has(word))
      for (const name of names) assert.isTrue(known.has(name), `${path}: ${name}`)
    }
  })

  it("map an existing model in their providers file", () => {
    const [[host]] = blocksIn(providersPage, "json").map((text) => JSON.parse(text)) as [[{ readonly models: object }]]
    assert.isNotEmpty(Object.keys(host.models))
    for (const id of Object.keys(host.models)) assert.isTrue(modelIds.has(id), id)
  })

  it.effect("show a valid providers file, and list every kind and quirk of a host", () =>
    Effect.gen(function* () {
      const hosts = textOf("docs/operate/hosts.md")
      const directory = mkdtempSync(join(tmpdir(), "tollgate-test-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
      const path = join(directory, "hosts.json")
      writeFileSync(path, blocksIn(hosts, "json")[0] ?? "")
      const keyFrom = () => Effect.succeed(undefined)
      const loaded = yield* loadProvidersFile({ path, models: modelIds, reserved: new Set(), keyFrom })
      assert.lengthOf(loaded, 2)
      const firsts = (title: string) => tableIn(hosts, title).flatMap(([cell = ""]) => quoted(cell))
      assert.sameMembers(firsts("Kind"), [...HOST_KINDS])
      assert.sameMembers(firsts("Quirk"), Object.keys(HostQuirks.fields))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("show a valid catalogue file", () =>
    Effect.gen(function* () {
      const directory = mkdtempSync(join(tmpdir(), "tollgate-test-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
      const path = join(directory, "catalogue.json")
      writeFileSync(path, blocksIn(providersPage, "json")[1] ?? "")
      const { load } = yield* catalogueFile({ path, hosts: [] })
      assert.isTrue(Object.values(yield* load).every((list) => list.length === 1))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("list exactly the metrics that the gateway exports", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const body = { model: "gpt-4o-mini", stream: true, messages: [{ role: "user", content: "Hello!" }] }
      const response = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
      yield* Effect.promise(() => response.text())
      const text = yield* eventually(
        Effect.promise(() => fetch(`${service.ops}/metrics`).then((answer) => answer.text())),
        // The gateway counts a request after it has written the last byte.
        (found) => found.includes("http_server_request_duration")
      )
      const made = [...text.matchAll(/^# TYPE (\w+) /gm)].map((found) =>
        found[1]!.replace(/_total$/, "").replace(/_(seconds|bytes|nano_usd|tokens_per_second)$/, "")
      )
      const said = tableIn(textOf("docs/operate/observe.md"), "Metric").flatMap(([names = ""]) => quoted(names))
      assert.sameMembers(
        said.map((name) => name.replaceAll(".", "_")),
        made
      )
    }).pipe(Effect.scoped)
  )

  it.live("show admin commands that work", () =>
    Effect.gen(function* () {
      const env = {
        DATABASE_URL: yield* freshDatabase("readme"),
        DATA_DIR: yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-docs-"))),
          (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
        )
      }
      const settings = ConfigProvider.fromEnv({ env })
      const admin = (words: string) =>
        Effect.gen(function* () {
          const code = yield* command(words.split(" "))
          return { code, said: [...(yield* TestConsole.logLines), ...(yield* TestConsole.errorLines)].join("\n") }
        }).pipe(Effect.provide([TestConsole.layer, NodeServices.layer, ConfigProvider.layer(settings)]))
      const [block = ""] = blocksIn(textOf("docs/operate/admin.md"), "sh")
      const commands = block.trimEnd().split("\n")
      assert.isAbove(commands.length, 5)
      let id = ""
      for (const line of commands) {
        const words = line.replace(/^npm run admin -- /, "").replace("0123456789abcdef01234567", id)
        assert.notStrictEqual(words, line)
        const { code, said } = yield* admin(words)
        assert.strictEqual(code, 0, `${line}\n${said}`)
        id = /the inference key ([0-9a-f]{24})/.exec(said)?.[1] ?? id
      }
    }).pipe(Effect.scoped)
  )
})

/** Variables that only an example host of the providers file names. */
const HOST_VARIABLES = new Set(["GROQ_API_KEY", "TOLLGATE_KEY"])

describe("the page on routing", () => {
  const strategies = Object.keys(weights) as ReadonlyArray<Strategy>

  it("states the weights of each strategy", () => {
    const figures = ["price", "successRate", "medianTtft", "p50", "p95", "preferred"] as const
    const said = tableIn(routing, `Strategy \\| ${figures.map((name) => `\`${name}\``).join(" \\| ")}`)
    const made = strategies.map((name) => [`\`${name}\``, ...figures.map((figure) => weights[name][figure])])
    assert.deepStrictEqual(
      said.map(([name, ...cells]) => [name, ...cells.map(Number)]),
      made
    )
    for (const name of strategies) assert.sameMembers(Object.keys(weights[name]), [...figures])
  })

  it("states the constants of the code", () => {
    const bounds = strategies.map((name) => {
      const bound = explorationPriceBound[name]
      return [`\`${name}\``, bound === undefined ? "never explores" : `${bound} ×`]
    })
    assert.deepStrictEqual(tableIn(routing, "Strategy \\| At most"), bounds)
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
    const said = tableIn(routing, "`routing`").map(([name = ""]) => quoted(name)[0])
    assert.deepStrictEqual(
      said,
      restrictionsOf(asked).map(({ name }) => name)
    )
  })
})

describe("the documents", () => {
  it("link to existing files", () => {
    for (const document of documents) {
      for (const [, link = ""] of textOf(document).matchAll(/\]\(([^)#]+)\)/g)) {
        if (!link.startsWith("https://")) assert.isTrue(existsSync(join(root, dirname(document), link)), link)
      }
    }
  })

  it("link to existing headings", () => {
    for (const document of documents) {
      const links = textOf(document).matchAll(/\]\(([^)#:]*)#([^)]+)\)/g)
      for (const [link, path = "", anchor = ""] of links) {
        const target = path === "" ? document : join(dirname(document), path)
        const ids = render(target, textOf(target)).headings.map(({ id }) => id)
        assert.include(ids, anchor, `${document}: ${link}`)
      }
    }
  })

  it("have at most 1,200 words a page, except generated pages", () => {
    for (const path of pagesOfDocs.filter((one) => !one.startsWith("docs/reference/"))) {
      assert.isAtMost(textOf(path).split(/\s+/).length, 1_200, path)
    }
  })

  it("name only existing scripts", () => {
    const { scripts } = JSON.parse(textOf("package.json"))
    for (const document of documents) {
      for (const [, script = ""] of textOf(document).matchAll(/npm run (?:-s )?([a-z:]+)/g)) {
        assert.property(scripts, script, document)
      }
    }
  })

  it("name only existing files", () => {
    for (const document of documents) {
      const paths = quoted(textOf(document)).filter((word) => /^[\w.-]+\/[\w./-]*\.(ts|json|txt)$/.test(word))
      for (const path of paths) {
        const places = [path, join("src", path), join("src/platform", path)]
        assert.isTrue(
          places.some((place) => existsSync(join(root, place))),
          `${document}: ${path}`
        )
      }
    }
  })

  it("list every package in ARCHITECTURE.md, and only existing folders", () => {
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
