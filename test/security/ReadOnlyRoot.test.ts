/**
 * The gateway needs no privileges: it runs as an unprivileged user on a read-only file system, except for
 * `DATA_DIR`. The test checks the shipped files, and a running gateway in a mount namespace.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { chownSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parse, parseAllDocuments } from "yaml"
import { freshDatabase } from "../support/Database.ts"
import { environment, program } from "../support/Process.ts"
import { json, post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { textOf } from "../support/Sources.ts"

const NOBODY = 65_534

describe("the shipped deployment files", () => {
  it("run the gateway as an unprivileged user on a read-only root, without core files", () => {
    const dockerfile = textOf("Dockerfile")
    const user = dockerfile.lastIndexOf("\nUSER tollgate\n")
    assert.isAbove(user, dockerfile.lastIndexOf("\nFROM "))
    assert.notMatch(dockerfile.slice(user), /\n(RUN|USER root|COPY|ADD) /)

    const { gateway } = parse(textOf("docker-compose.yml")).services
    assert.deepStrictEqual(
      [gateway.read_only, gateway.cap_drop, gateway.security_opt, gateway.ulimits],
      [true, ["ALL"], ["no-new-privileges:true"], { core: 0, nofile: 65_536 }]
    )

    const deployment = parseAllDocuments(textOf("deploy/kubernetes.yaml"))
      .map((one) => one.toJS())
      .find(({ kind }) => kind === "Deployment")
    const pod = deployment.spec.template.spec
    assert.strictEqual(pod.securityContext.runAsNonRoot, true)
    assert.isAbove(pod.securityContext.runAsUser, 0)
    assert.strictEqual(pod.automountServiceAccountToken, false)
    for (const { securityContext } of pod.containers) {
      assert.deepStrictEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] }
      })
    }

    const unit = textOf("deploy/tollgate.service").split("\n")
    for (const line of [
      "DynamicUser=yes",
      "ProtectSystem=strict",
      "NoNewPrivileges=yes",
      "CapabilityBoundingSet=",
      "LimitCORE=0"
    ])
      assert.include(unit, line)
  })

  it("start Node without flags that write reports, snapshots or profiles", () => {
    const started = [
      JSON.parse(textOf("package.json")).scripts.start,
      textOf("Dockerfile"),
      textOf("deploy/tollgate.service")
    ]
    for (const text of started)
      assert.notMatch(text, /--(report-|heapsnapshot|heap-prof|cpu-prof|abort-on-uncaught|inspect|diagnostic-dir)/)
  })
})

/** Runs its arguments as the user nobody, where only the directory in the first argument is writable. */
const script = `
set -e
data=$1; shift
mount --bind "$data" "$data"
awk '$2 !~ "^/(proc|sys|dev)(/|$)" { print $2 }' /proc/mounts | sort -ru | while read -r one; do
  [ "$one" = "$data" ] || mount -o remount,bind,ro "$one" 2>/dev/null || true
done
exec setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"`

const inside = (data: string, ...command: ReadonlyArray<string>) => [
  "--mount",
  "--propagation",
  "private",
  "sh",
  "-c",
  script,
  "sh",
  data,
  ...command
]

const canUnshare =
  spawnSync("unshare", ["--mount", "--propagation", "private", "mount", "-o", "remount,bind,ro", "/"]).status === 0
if (!canUnshare)
  process.stderr.write("\n*** SKIPPED: the read-only root: unshare needs root and a kernel that lets it mount ***\n\n")

const statusOf = (pid: number, name: string): string =>
  new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? ""

describe("a gateway on a read-only file system", () => {
  it.live.skipIf(!canUnshare)("runs as the user nobody, and writes only to DATA_DIR", () =>
    Effect.gen(function* () {
      const data = yield* temporaryDirectory
      chownSync(data, NOBODY, NOBODY)
      const touch = (path: string) => spawnSync("unshare", inside(data, "touch", path)).status === 0
      assert.deepStrictEqual(
        [join(data, "mine"), "/tmp/theirs", "/var/tmp/theirs", program("theirs"), "/etc/theirs"].map(touch),
        [true, false, false, false, false]
      )

      const shared = { DATABASE_URL: yield* freshDatabase("readonly"), SECRETS_KEY: "s".repeat(40) }
      const { inferenceKey } = yield* Effect.flatMap(startService(shared), (service) => service.account(10))
      const settings = { ...shared, PORT: "0", DATA_DIR: data, SANDBOX: "on", PUBLIC_URL: "http://localhost" }
      const gateway = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const { NODE_COMPILE_CACHE: _, ...env } = environment(settings)
          const child = spawn("unshare", inside(data, process.execPath, program("main.ts")), { env, cwd: "/" })
          let text = ""
          for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (text += String(piece)))
          while (!/\btollgate is ready/.test(text)) {
            if (child.exitCode !== null) throw new Error(`the gateway did not start: ${text}`)
            await new Promise((resolve) => setTimeout(resolve, 50))
          }
          return { child, api: /http:\/\/127\.0\.0\.1:\d+\/api\/v1/.exec(text)![0] }
        }),
        ({ child }) =>
          Effect.promise(async () => {
            const ended = new Promise((resolve) => child.once("exit", resolve))
            child.kill("SIGTERM")
            await ended
          })
      )
      // Each program in the script replaced itself with the next, so the process is the gateway.
      const pid = gateway.child.pid!
      assert.deepStrictEqual(
        ["Uid", "Gid", "CapEff", "CapBnd", "NoNewPrivs"].map((name) => statusOf(pid, name)),
        [String(NOBODY), String(NOBODY), "0".repeat(16), "0".repeat(16), "1"]
      )
      const ask = (path: string, body: object) => post(`${gateway.api}${path}`, inferenceKey, body)
      const chat = yield* ask("/chat/completions", {
        model: "gpt-4o-mini",
        messages: [{ role: "user", content: "Hello!" }]
      })
      assert.strictEqual(chat.status, 200)
      const drawn = yield* ask("/images/generations", { model: "flux-dev", prompt: "a kite", size: "64x64" })
      const [image] = (yield* json(drawn)).data
      const kept = yield* Effect.promise(() =>
        fetch(image.url.replace("http://localhost", new URL(gateway.api).origin))
      )
      assert.strictEqual(kept.status, 200)
      assert.isNotEmpty(readdirSync(data))
    }).pipe(Effect.scoped)
  )
})
