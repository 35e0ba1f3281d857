/** Debian's Prometheus, run with the configuration of `deploy/prometheus/`. */
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse, stringify } from "yaml"
import { freePort } from "../support/FreePort.ts"
import { root, textOf } from "../support/Sources.ts"

/** Why tests of queries cannot run on this machine; undefined when they can. */
export const missing: string | undefined = ["prometheus", "promtool"].every(
  (program) => spawnSync(program, ["--version"]).status === 0
)
  ? undefined
  : "prometheus is not installed (Debian: apt-get install prometheus)"

/** What promtool says of files of this repository. */
export const promtool = (...words: ReadonlyArray<string>): { readonly ok: boolean; readonly text: string } => {
  const { status, stderr, stdout } = spawnSync("promtool", words, { cwd: root, encoding: "utf8" })
  return { ok: status === 0, text: `${stdout}${stderr}` }
}

/** One series of an answer: its labels and its value now. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [at: number, value: string]
}

/** The repository's configuration, with these nodes in place of those that DNS would find, scraped every second. */
const configuration = (nodes: ReadonlyArray<string>): string => {
  const { global, scrape_configs, ...others } = parse(textOf("deploy/prometheus/prometheus.yml"))
  const [{ dns_sd_configs: _, ...scrape }] = scrape_configs
  return stringify({
    ...others,
    global: { ...global, scrape_interval: "1s", evaluation_interval: "1s" },
    scrape_configs: [{ ...scrape, static_configs: [{ targets: nodes }] }]
  })
}

const ask = <A>(origin: string, path: string, body?: Record<string, string>): Effect.Effect<A> =>
  Effect.promise(async () => {
    const sent = body === undefined ? undefined : { method: "POST", body: new URLSearchParams(body) }
    const answer = (await fetch(`${origin}/api/v1/${path}`, sent)) as Response
    const { data, error } = (await answer.json()) as { readonly data: A; readonly error?: string }
    if (error !== undefined) throw new Error(`${body?.["query"] ?? path}: ${error}`)
    return data
  })

/** Runs Prometheus on these nodes until the scope closes. */
export const startPrometheus = Effect.fnUntraced(function* (nodes: ReadonlyArray<string>) {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-prometheus-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const port = yield* freePort
  const file = join(directory, "prometheus.yml")
  writeFileSync(file, configuration(nodes))
  copyFileSync(join(root, "deploy/prometheus/alerts.yml"), join(directory, "alerts.yml"))
  const words = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--log.level=error"
  ]
  yield* Effect.acquireRelease(
    Effect.sync(() => spawn("prometheus", words, { stdio: "ignore" })),
    (child) =>
      Effect.promise(async () => {
        if (child.exitCode !== null) return
        child.kill("SIGKILL")
        await once(child, "exit")
      })
  )
  const origin = `http://127.0.0.1:${port}`
  const isReady = Effect.promise(() =>
    fetch(`${origin}/-/ready`).then(
      ({ ok }) => ok,
      () => false
    )
  )
  yield* Effect.repeat(Effect.andThen(Effect.sleep("50 millis"), isReady), { until: (ready) => ready })
  return {
    /** What an instant query returns. */
    query: (query: string) =>
      Effect.map(ask<{ readonly result: ReadonlyArray<Series> }>(origin, "query", { query }), ({ result }) => result),
    /** The rules it has loaded, and what became of evaluating each. */
    rules: Effect.map(
      ask<{
        readonly groups: ReadonlyArray<{
          readonly rules: ReadonlyArray<{
            readonly name: string
            readonly health: string
            readonly state: string
            readonly lastError?: string
          }>
        }>
      }>(origin, "rules"),
      ({ groups }) => groups.flatMap(({ rules }) => rules)
    )
  }
})
