/** Runs what `docker compose up --scale gateway=3` runs: HAProxy with its recipe, which finds the gateways by a DNS name. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../support/FreePort.ts"
import { freshDatabase } from "../support/Database.ts"
import { post, startService } from "../support/Service.ts"
import { temporaryDirectory } from "../support/Directories.ts"
import { textOf } from "../support/Sources.ts"
import { balancers, programOf } from "./programs.ts"

/** Returns the answer to a DNS query (RFC 1035): these addresses, or none for a query of another type. */
const answerTo = (question: Buffer, addresses: ReadonlyArray<string>): Buffer => {
  let end = 12
  while (question[end] !== 0) end += question[end]! + 1
  end += 5
  const given = question.readUInt16BE(end - 4) === 1 ? addresses : []
  const header = Buffer.from(question.subarray(0, 12))
  // A response that is authoritative, with one question and no further records.
  header.writeUInt16BE(0x8580, 2)
  header.writeUInt16BE(given.length, 6)
  header.writeUInt16BE(0, 8)
  header.writeUInt16BE(0, 10)
  const records = given.map((address) =>
    Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split(".").map(Number)])
  )
  return Buffer.concat([header, question.subarray(12, end), ...records])
}

/** Starts a DNS server on loopback that answers with these addresses, until the scope closes. */
const nameserver = (addresses: () => ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = createSocket("udp4")
      socket.on("message", (question, { address, port }) => socket.send(answerTo(question, addresses()), port, address))
      socket.bind(0, "127.0.0.1")
      await once(socket, "listening")
      return socket
    }),
    (socket) => Effect.sync(() => socket.close())
  )

const balancer = balancers[0]!
const program = programOf(balancer)
if (program === undefined)
  process.stderr.write(`\n*** SKIPPED: scaled gateways are not tried: ${balancer.name} is not installed ***\n\n`)

const startHaProxy = Effect.fnUntraced(function* (dns: number, port: number, opsPort: number) {
  const file = join(yield* temporaryDirectory, "haproxy.cfg")
  const publicPort = yield* freePort
  const recipe = textOf("deploy/compose/haproxy.cfg")
    .replace("127.0.0.11:53", `127.0.0.1:${dns}`)
    .replace("bind :8787", `bind 127.0.0.1:${publicPort}`)
    .replace("gateway:8787", `gateway:${port}`)
    .replace("check port 9464", `check port ${opsPort}`)
  writeFileSync(file, recipe)
  yield* Effect.acquireRelease(
    Effect.sync(() => spawn(program!, ["-db", "-f", file], { stdio: "ignore" })),
    (child) =>
      Effect.promise(async () => {
        child.kill("SIGKILL")
        if (child.exitCode === null) await once(child, "exit")
      })
  )
  return `http://127.0.0.1:${publicPort}`
})

describe.skipIf(program === undefined)("gateways behind the balancer of Compose", () => {
  it.live(
    "share the requests, and lose none when a gateway is removed or added",
    () =>
      Effect.gen(function* () {
        const [port, opsPort] = [yield* freePort, yield* freePort]
        const shared = { DATABASE_URL: yield* freshDatabase("scaled"), DATA_DIR: yield* temporaryDirectory }
        const gateway = (host: string) =>
          startService({
            ...shared,
            HOST: host,
            PORT: `${port}`,
            OPS_HOST: host,
            OPS_PORT: `${opsPort}`,
            TRUSTED_PROXIES: "127.0.0.1"
          })
        const hosts = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]
        const first = yield* gateway(hosts[0]!)
        for (const host of hosts.slice(1, 3)) yield* gateway(host)
        const { inferenceKey } = yield* first.account(10)
        let known = hosts.slice(0, 3)
        const dns = yield* nameserver(() => known)
        const origin = yield* startHaProxy(dns.address().port, port, opsPort)

        const ask = Effect.map(
          post(`${origin}/api/v1/chat/completions`, inferenceKey, {
            model: "gpt-4o-mini",
            messages: [{ role: "user", content: "Hello!" }]
          }).pipe(Effect.tap((answer) => Effect.promise(() => answer.text()))),
          ({ status }) => status
        )
        const servedBy = (host: string) =>
          Effect.promise(async () => {
            const text = await fetch(`http://${host}:${opsPort}/metrics`).then((answer) => answer.text())
            return Number(/^svc_http_requests_total\{.*"2xx"\} (\d+)$/m.exec(text)?.[1] ?? 0)
          })
        /** Sends requests until this gateway has served more. Every answer must succeed. */
        const until = (host: string, from: number): Effect.Effect<void> =>
          Effect.gen(function* () {
            assert.strictEqual(yield* ask, 200)
            if ((yield* servedBy(host)) <= from) yield* until(host, from)
          })
        const isUp = Effect.promise(() =>
          fetch(`${origin}/api/v1/models?limit=1`).then(
            ({ status }) => status !== 503,
            () => false
          )
        )
        yield* Effect.repeat(Effect.delay(isUp, "100 millis"), { until: (up) => up })
        for (const host of known) yield* until(host, 0)

        // Compose removes the name with the container, and gives a new container a new address.
        known = hosts.slice(1, 3)
        yield* gateway(hosts[3]!)
        known = hosts.slice(1)
        yield* until(hosts[3]!, 0)
        for (let count = 0; count < 30; count++) assert.strictEqual(yield* ask, 200)
        assert.deepStrictEqual(yield* first.faults, [])
      }).pipe(Effect.scoped),
    60_000
  )
})
