/**
 * Requests made from the published document, sent to every operation. FUZZ_SEED repeats a run, FUZZ_SECONDS sets its length.
 *
 * A valid request never gets an undocumented status, or a 5xx other than a documented one of a provider. A broken request gets a
 * documented 4xx that names a field. Every body decodes with the schema that the document gives for its status.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { performance } from "node:perf_hooks"
import { Random } from "../ledger/Random.ts"
import { upstream } from "../providers/upstream.ts"
import { bearer, type Call, callsOf, type Credential, send } from "../support/Calls.ts"
import { breach } from "../support/DocumentSchema.ts"
import { shownCalls } from "../support/Examples.ts"
import { brokenOf, variantOf } from "../support/FuzzValues.ts"
import { openApiText, operations, type PublishedOperation } from "../support/Published.ts"
import { startService } from "../support/Service.ts"
import { createResources } from "../support/Things.ts"

const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 1_000_000))
const milliseconds = Number(process.env["FUZZ_SECONDS"] ?? 15) * 1000

const { paths } = JSON.parse(openApiText())

const documentOf = ({ method, path }: PublishedOperation) => paths[path][method.toLowerCase()]

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: { readonly items?: object }
}

/** A request, and whether it is valid by the document. */
interface Trial {
  readonly call: Call
  readonly good: boolean
}

/** The statuses that report a provider's failure. */
const UPSTREAM = new Set([502, 503, 504])

const bodySchemaOf = (operation: PublishedOperation): object | undefined =>
  documentOf(operation).requestBody?.content["application/json"]?.schema

const bodyTrials = (operation: PublishedOperation, call: Call, random: () => number): ReadonlyArray<Trial> => {
  const schema = bodySchemaOf(operation)
  if (schema === undefined || call.body === undefined) return []
  const variant = variantOf(call.body as Record<string, unknown>, schema as Record<string, unknown>, random)
  return [variant, brokenOf(call.body, random)].map((body) => ({
    call: { ...call, body: body as object },
    good: breach(schema, body) === undefined
  }))
}

/** Values that only text parameters accept. */
const WRONG_QUERIES = ["", "x", "-1", "1e99", "%00", "[]", "no such value"]

const queryTrials = (operation: PublishedOperation, call: Call, random: () => number): ReadonlyArray<Trial> => {
  const parameters = ((documentOf(operation).parameters ?? []) as ReadonlyArray<Parameter>).filter(
    (one) => one.in === "query"
  )
  if (parameters.length === 0) return []
  const { name, schema } = parameters[Math.floor(random() * parameters.length)]!
  const value = WRONG_QUERIES[Math.floor(random() * WRONG_QUERIES.length)]!
  const [path, query] = call.path.split("?")
  const search = new URLSearchParams(query)
  search.set(name, value)
  // A query is text, so the text of a number is valid when the schema requires a number.
  const isWrong = breach(schema.items ?? schema, value) !== undefined && (value === "" || Number.isNaN(Number(value)))
  const unknown = new URLSearchParams(query)
  unknown.set("banana", "1")
  return [
    { call: { ...call, path: `${path}?${search}` }, good: !isWrong },
    { call: { ...call, path: `${path}?${unknown}` }, good: false }
  ]
}

// oxlint-disable-next-line typescript/no-explicit-any
const fieldOf = (body: any): unknown => body?.error?.param ?? body?.param ?? body?.details?.[0]?.field

const eventsIn = (text: string): ReadonlyArray<unknown> =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!))

/** Returns what is wrong with a response, or undefined. */
const faultOf = (operation: PublishedOperation, trial: Trial, response: Response, text: string): string | undefined => {
  const documented = documentOf(operation).responses[String(response.status)]
  if (documented === undefined) return `${response.status} is not documented`
  if (response.status >= 500 && !UPSTREAM.has(response.status)) return `${response.status} ${text}`
  const type = (response.headers.get("content-type") ?? "").split(";", 1)[0]!
  const schema = documented.content?.[type]?.schema
  if (schema === undefined && text !== "" && documented.content !== undefined) return `${type} is not documented`
  const values = type === "application/json" ? [JSON.parse(text)] : type === "text/event-stream" ? eventsIn(text) : []
  for (const value of values) {
    const fault = breach(schema, value)
    if (fault !== undefined) return `${response.status} does not decode: ${fault}\n${text.slice(0, 500)}`
  }
  if (trial.good) return undefined
  if (response.status < 400 || response.status >= 500) return `accepts it with ${response.status}`
  if (response.status === 400 && typeof fieldOf(values[0]) !== "string") return `names no field: ${text.slice(0, 300)}`
  return undefined
}

describe("requests generated from the document", () => {
  it.live(
    `get the answers that the document describes (FUZZ_SEED=${seed})`,
    () =>
      Effect.gen(function* () {
        const numbers = new Random(seed)
        const random = () => numbers.next()
        const receiver = yield* upstream((_, response) => response.writeHead(204).end())
        const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
        const customer = yield* service.account(10_000)
        const calls = shownCalls(callsOf(yield* createResources(service, customer, receiver.origin)))
        const credentials: Readonly<Record<PublishedOperation["credential"], Credential>> = {
          "inference key": bearer(customer.inferenceKey),
          "management key": bearer(customer.managementKey),
          session: yield* service.signedIn(customer.account.id),
          "operator key": bearer(yield* service.operatorKey),
          "operator session": yield* service.operatorSignedIn(),
          none: {}
        }
        const faults: Array<string> = []
        const counts = { good: 0, broken: 0 }
        const end = performance.now() + milliseconds
        while (performance.now() < end) {
          for (const operation of operations) {
            const call = calls.get(operation.id)!
            for (const trial of [...bodyTrials(operation, call, random), ...queryTrials(operation, call, random)]) {
              const response = yield* send(service.api, trial.call, credentials[operation.credential])
              const text = yield* Effect.promise(() => response.text())
              counts[trial.good ? "good" : "broken"]++
              const fault = faultOf(operation, trial, response, text)
              if (fault !== undefined) {
                const { body, path } = trial.call
                faults.push(`${operation.id} ${path} ${JSON.stringify(body)?.slice(0, 600)}\n  ${fault}`)
              }
            }
          }
        }
        console.info(`${counts.good} good and ${counts.broken} broken requests, ${faults.length} faults, seed ${seed}`)
        assert.deepStrictEqual(faults, [])
        assert.isAbove(Math.min(counts.good, counts.broken), 50)
        assert.deepStrictEqual(yield* service.faults, [])
      }).pipe(Effect.scoped),
    milliseconds + 60_000
  )
})
