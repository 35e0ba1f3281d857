/** Checks the systemd unit and the Kubernetes manifests against the programs that read them and against the gateway. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Deployment } from "kubernetes-models/apps/v1"
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1"
import { Service } from "kubernetes-models/v1"
import { parseAllDocuments } from "yaml"
import { Config } from "../../src/platform/config/Config.ts"
import { settingNames } from "../support/Settings.ts"
import { root, textOf } from "../support/Sources.ts"

const { scripts } = JSON.parse(textOf("package.json"))

/** Returns the most seconds that a node takes to stop with these settings. */
const stopSeconds = (settings: Record<string, string>) =>
  Effect.gen(function* () {
    const { shutdownDelay, shutdownGrace } = yield* Config.pipe(Effect.provide(Config.layerFrom(settings)))
    return Duration.toSeconds(shutdownDelay) + 3 * Duration.toSeconds(shutdownGrace) + 10
  })

describe("deploy/tollgate.service", () => {
  const unit = textOf("deploy/tollgate.service")
  const valuesOf = (name: string) => [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value!)

  it("runs the same command as `npm start`, with settings that the gateway reads", () => {
    assert.deepStrictEqual(valuesOf("ExecStart"), [
      scripts.start.replace("exec node ", "/opt/tollgate/node_modules/.bin/node ")
    ])
    for (const one of valuesOf("Environment").flatMap((line) => line.split(" "))) {
      const name = one.split("=")[0]!
      if (name !== "NODE_ENV") assert.include(settingNames, name)
    }
  })

  it.effect("gives the node more time to stop than it needs", () =>
    Effect.map(stopSeconds({}), (seconds) => assert.isAtLeast(Number(valuesOf("TimeoutStopSec")[0]), seconds))
  )

  const verifies = spawnSync("systemd-analyze", ["--version"]).status === 0
  if (!verifies)
    process.stderr.write("\n*** SKIPPED: the unit is not verified: systemd-analyze is not installed ***\n\n")

  it.skipIf(!verifies)("passes `systemd-analyze verify`", () => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-unit-"))
    try {
      // systemd checks that the program exists.
      const program = join(directory, "node_modules/.bin/node")
      mkdirSync(join(directory, "node_modules/.bin"), { recursive: true })
      writeFileSync(program, "#!/bin/sh\n")
      chmodSync(program, 0o755)
      const file = join(directory, "tollgate.service")
      writeFileSync(file, unit.replaceAll("/opt/tollgate", directory))
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" })
      assert.deepStrictEqual([status, stderr.split("\n").filter((line) => line.includes("tollgate.service"))], [0, []])
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [member: string]: any
}

const manifests = parseAllDocuments(textOf("deploy/kubernetes.yaml")).map((one): Manifest => one.toJS())
const the = (kind: string): Manifest => manifests.find((one) => one.kind === kind)!

const kinds = { Deployment, Service, PodDisruptionBudget, HorizontalPodAutoscaler }

/**
 * Returns the compiler's errors about manifests written as literals. The schemas of Kubernetes accept unknown members; its types do not.
 */
const compiled = (all: ReadonlyArray<Manifest>): string => {
  // A directory below the project, so that the compiler finds the package.
  const directory = mkdtempSync(join(root, ".manifests-"))
  try {
    const file = join(directory, "manifests.mts")
    const text = all.map(
      ({ apiVersion, kind, ...members }) =>
        `import { ${kind} } from "kubernetes-models/${apiVersion}"\nnew ${kind}(${JSON.stringify(members)})`
    )
    writeFileSync(file, text.join("\n"))
    const flags = [
      "--ignoreConfig",
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--types",
      "node"
    ]
    return spawnSync(join(root, "node_modules/.bin/tsc"), [...flags, file], { encoding: "utf8" }).stdout
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

describe("deploy/kubernetes.yaml", () => {
  it("matches the schemas of Kubernetes", () => {
    assert.sameMembers(
      manifests.map(({ kind }) => kind),
      Object.keys(kinds)
    )
    for (const manifest of manifests) {
      const kind = kinds[manifest.kind as keyof typeof kinds]
      assert.strictEqual(manifest.apiVersion, kind.apiVersion)
      new kind(manifest as never).validate()
    }
    assert.strictEqual(compiled(manifests), "")
    const broken = structuredClone(the("Deployment"))
    broken["spec"].template.spec.terminationGracePeriodSeconds = "90 seconds"
    assert.throws(() => new Deployment(broken as never).validate())
    const misspelt = structuredClone(the("Deployment"))
    misspelt["spec"].template.spec.containers[0].imagePullPolice = "Always"
    assert.include(compiled([misspelt]), "imagePullPolice")
  })

  const pod = the("Deployment")["spec"].template
  const [container] = pod.spec.containers
  const env: Record<string, string> = Object.fromEntries(
    container.env.map(({ name, value }: { readonly name: string; readonly value: string }) => [name, value])
  )

  it.effect("has only settings that the gateway reads, and gives a node more time to stop than it needs", () =>
    Effect.gen(function* () {
      for (const name of Object.keys(env)) assert.include(settingNames, name)
      const secrets = { S3_ACCESS_KEY_ID: "a", S3_SECRET_ACCESS_KEY: "b", DATABASE_URL: "postgres://a@b/c" }
      const { http, ops } = yield* Config.pipe(Effect.provide(Config.layerFrom({ ...env, ...secrets })))
      const ports = Object.fromEntries(
        container.ports.map((one: { readonly name: string; readonly containerPort: number }) => [
          one.name,
          one.containerPort
        ])
      )
      assert.deepStrictEqual(ports, { http: http.port, ops: ops.port })
      const { SHUTDOWN_DELAY: delay } = env
      assert.isAtLeast(pod.spec.terminationGracePeriodSeconds, yield* stopSeconds({ SHUTDOWN_DELAY: delay! }))
    })
  )

  it("probes health at the ops port, and selects the same pods everywhere", () => {
    for (const [probe, path] of [
      ["startupProbe", "/healthz"],
      ["readinessProbe", "/readyz"],
      ["livenessProbe", "/healthz"]
    ] as const) {
      assert.deepStrictEqual(container[probe].httpGet, { path, port: "ops" })
    }
    const { labels } = pod.metadata
    assert.deepStrictEqual(the("Deployment")["spec"].selector.matchLabels, labels)
    assert.deepStrictEqual(the("Service")["spec"].selector, labels)
    assert.deepStrictEqual(the("PodDisruptionBudget")["spec"].selector.matchLabels, labels)
    const { metrics, scaleTargetRef } = the("HorizontalPodAutoscaler")["spec"]
    assert.deepStrictEqual(
      [scaleTargetRef.kind, scaleTargetRef.name],
      ["Deployment", the("Deployment")["metadata"].name]
    )
    assert.include(textOf("docs/reference/metrics.md"), `\`${metrics[1].pods.metric.name}\``)
    const [{ targetPort }] = the("Service")["spec"].ports
    assert.strictEqual(targetPort, "http")
  })
})
