/** The examples of the published contract: each request succeeds, and each answer decodes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import examples from "../../schemas/published/examples.json" with { type: "json" }
import { upstream } from "../providers/upstream.ts"
import { bearer, type Call, callsOf, send } from "../support/Calls.ts"
import { breach } from "../support/DocumentSchema.ts"
import { type Example, shownCalls, stable } from "../support/Examples.ts"
import { postbox } from "../support/Postbox.ts"
import { openApiText, operations } from "../support/Published.ts"
import { json, startService } from "../support/Service.ts"
import { createResources } from "../support/Things.ts"
import { eventually } from "../support/Eventually.ts"
import { twilio } from "../support/Twilio.ts"

const committed: Readonly<Record<string, Example>> = examples

const { paths } = JSON.parse(openApiText())

interface Content {
  readonly schema: object
  readonly examples?: { readonly default: { readonly value: unknown } }
}

const documentOf = ({ method, path }: { readonly method: string; readonly path: string }) =>
  paths[path][method.toLowerCase()]

const requestOf = (call: Call): unknown => {
  if (call.form !== undefined) return { purpose: "batch", file: "input.jsonl" }
  return call.body === undefined ? undefined : stable(call.body)
}

/** Stripe's events are signed with a secret that the sandbox does not have. The success of this operation has one body. */
const unsent: Readonly<Record<string, Example>> = { "payments.stripe": { response: { received: true } } }

/** Sends the example call of every operation. Returns the requests and the answers. */
const sent = Effect.gen(function* () {
  const receiver = yield* upstream((_, response) => response.writeHead(204).end())
  const [mail, phones] = [yield* postbox(), yield* twilio]
  const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1", ...mail.settings, ...phones.settings })
  const customer = yield* service.account(100)
  const calls = new Map(shownCalls(callsOf(yield* createResources(service, customer, receiver.origin))))
  const video = Effect.flatMap(send(service.api, calls.get("videos.get")!, bearer(customer.inferenceKey)), json)
  yield* eventually(video, ({ status }) => status === "completed")
  const withCode = (id: string, more: object) => calls.set(id, { ...calls.get(id)!, body: more })
  const found: Record<string, Example> = {}
  for (const operation of operations) {
    const { credential, id } = operation
    const call = calls.get(id)!
    const credentials = {
      "inference key": bearer(customer.inferenceKey),
      "management key": bearer(customer.managementKey),
      // Some operations end the session.
      session: yield* service.signedIn(customer.account.id),
      "operator key": bearer(yield* service.operatorKey),
      "operator session": yield* service.operatorSignedIn(),
      none: {}
    }
    const response = yield* send(service.api, call, credentials[credential])
    const isJson = /^application\/json(;|$)/.test(response.headers.get("content-type") ?? "")
    const body = isJson ? yield* json(response) : yield* Effect.promise(() => response.text())
    const request = documentOf(operation).requestBody === undefined ? undefined : requestOf(call)
    if (unsent[id] === undefined) assert.isBelow(response.status, 400, `${id}: ${JSON.stringify(body)}`)
    found[id] = unsent[id] ?? {
      ...(request === undefined ? {} : { request }),
      ...(isJson ? { response: stable(body) } : {})
    }
    if (id === "console.sign_in.create") {
      const email = (call.body as { readonly email: string }).email
      withCode("console.sign_in.verify", { email, sign_in_id: body.sign_in_id, code: mail.codeFor(email) })
    }
    if (id === "console.email.create") {
      const email = (call.body as { readonly email: string }).email
      withCode("console.email.verify", { email, code: mail.codeFor(email) })
    }
    if (id === "console.phone.create") {
      const phone = (call.body as { readonly phone: string }).phone
      withCode("console.phone.verify", { phone, code: phones.codeFor(phone) })
    }
  }
  return found
})

describe("the examples of the contract", () => {
  // `npm run published` writes them again.
  it.live("show requests that succeed", () =>
    Effect.gen(function* () {
      const found = yield* sent
      if (process.env["WRITE_EXAMPLES"] === "1") {
        writeFileSync(
          new URL("../../schemas/published/examples.json", import.meta.url),
          `${JSON.stringify(found, null, 2)}\n`
        )
        return
      }
      for (const [id, { request, response }] of Object.entries(found)) {
        assert.deepStrictEqual(committed[id]?.request, request, id)
        assert.strictEqual(committed[id]?.response === undefined, response === undefined, id)
      }
    }).pipe(Effect.scoped)
  )

  it("exist for every request body and every successful JSON answer", () => {
    for (const operation of operations) {
      const { requestBody, responses } = documentOf(operation)
      for (const content of Object.values<object>(requestBody?.content ?? {}))
        assert.nestedProperty(content, "examples.default.value")
      const json = responses["200"]?.content["application/json"]
      if (json !== undefined) assert.nestedProperty(json, "examples.default.value", operation.id)
    }
  })

  it("decode with the schemas of the document", () => {
    for (const operation of operations) {
      const { requestBody, responses } = documentOf(operation)
      const contents: ReadonlyArray<Content> = [
        ...Object.values<Content>(requestBody?.content ?? {}),
        ...Object.values<Content>(responses["200"]?.content ?? {}).filter(({ examples }) => examples !== undefined)
      ]
      for (const { examples, schema } of contents) {
        assert.strictEqual(breach(schema, examples?.default.value), undefined, operation.id)
      }
    }
  })
})
