/** One host on loopback that answers every adapter from its fixtures, and records the last request. */
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { upstream } from "../providers/upstream.ts"
import { type Adapter, adapters, COMPATIBLE_HOST, COMPATIBLE_MODEL } from "./adapters.ts"
import { caseIn } from "./cases.ts"

const fixture = (adapter: Adapter, file: string): Buffer =>
  readFileSync(new URL(`./upstream/${adapter.name}/${file}`, import.meta.url))

/** Reads the recorded stream of a case. */
export const streamOf = (adapter: Adapter, name: string): Buffer => fixture(adapter, `${name}.sse`)

interface WholeFixture {
  readonly status: number
  readonly body: object
}

/** Reads the recorded plain answer of a case. */
export const wholeOf = (adapter: Adapter, name: string): WholeFixture =>
  JSON.parse(fixture(adapter, `${name}.json`).toString("utf8"))

/** Writes each piece in its own turn of the event loop, so that the pieces are not joined. */
const writePieces = (response: ServerResponse, bytes: Buffer, size: number): void => {
  const next = (from: number) => {
    if (from >= bytes.length) return void response.end()
    response.write(bytes.subarray(from, from + size))
    setImmediate(next, from + size)
  }
  next(0)
}

const providersFile = (origin: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-golden-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    ),
    (directory) => {
      const path = join(directory, "hosts.json")
      const models = { [COMPATIBLE_MODEL.id]: COMPATIBLE_MODEL.upstream }
      writeFileSync(path, JSON.stringify([{ id: COMPATIBLE_HOST, base_url: `${origin}/compatible/v1`, models }]))
      return path
    }
  )

/** Starts the host, until the scope closes. */
export const startHost = Effect.gen(function* () {
  let asked: unknown
  let pieceBytes = Number.MAX_SAFE_INTEGER
  const { origin } = yield* upstream((request, response) => {
    const path = request.url ?? ""
    const adapter = adapters.find(({ base }) => path.startsWith(base))
    let text = ""
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece))
    request.on("end", () => {
      const name = caseIn(text)
      if (adapter === undefined || name === undefined) return response.writeHead(404).end()
      const body = JSON.parse(text)
      asked = { path: path.slice(adapter.base.length - 1), body }
      if (!adapter.streams(path, body)) {
        const answer = wholeOf(adapter, name)
        response.writeHead(answer.status, { "content-type": "application/json" })
        return response.end(JSON.stringify(answer.body))
      }
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
      return writePieces(response, streamOf(adapter, name), pieceBytes)
    })
  })
  const env: Record<string, string> = { PROVIDERS_FILE: yield* providersFile(origin), OUTBOUND_ALLOW_LOOPBACK: "1" }
  for (const adapter of adapters) Object.assign(env, adapter.env(origin))
  return {
    /** The settings of a gateway that calls only this host. */
    env: { ...env, SANDBOX: "off" },
    /** Sets the number of bytes in each piece of later streams. */
    cut: (bytes: number): void => {
      pieceBytes = bytes
    },
    /** Returns and forgets the last request. */
    takeAsked: (): unknown => {
      const last = asked
      asked = undefined
      return last
    }
  }
})
