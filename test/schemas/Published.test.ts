import { assert, describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { existsSync } from "node:fs"
import { TAKEN } from "../../schemas/Published.ts"
import { decodeChat } from "../../src/dialects/chat/ChatDecode.ts"
import { decodeResponses } from "../../src/dialects/responses/ResponsesDecode.ts"
import { decodeEstimate } from "../../src/dialects/Estimate.ts"
import type { DecodedRequest } from "../../src/dialects/DecodedRequest.ts"
import type { Failure } from "../../src/domain/Failure.ts"
import { limits } from "../../src/ratelimit/Limits.ts"
import { descriptionsText } from "../support/Descriptions.ts"
import { openApiText, operations, operationsText } from "../support/Published.ts"

const file = (name: string) => new URL(`../../schemas/published/${name}`, import.meta.url).pathname

interface Document {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly components: any
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly paths: any
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
}

/** The parts of a schema that can contain fields. */
interface Fields {
  readonly [keyword: string]: unknown
  readonly $ref?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly properties?: Readonly<Record<string, Fields>>
}

/**
 * The paths of the fields of a value's schemas that have no description. A field needs none if it has a single value, or a named schema,
 * which describes itself; and neither does `data` around the fields of a result.
 */
const fieldsWithoutDescription = (value: unknown, schemas: Readonly<Record<string, Fields>>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const missing: Array<string> = []
  const refersIn = (schema: Fields): boolean =>
    schema.$ref !== undefined ||
    Object.values(schema)
      .flat()
      .some((one) => (one as Fields | null)?.$ref !== undefined)
  const visit = (one: unknown, path: string): void => {
    if (typeof one !== "object" || one === null) return
    if (Array.isArray(one)) return one.forEach((item) => visit(item, path))
    const { $ref, examples: _, properties, ...others } = one as Fields
    const name = $ref?.split("/").at(-1)
    if (name !== undefined && !seen.has(name)) {
      seen.add(name)
      visit(schemas[name], name)
    }
    for (const [field, schema] of Object.entries(properties ?? {})) {
      const isWrapper = field === "data" && schema.properties !== undefined
      const isDescribed = isWrapper || schema.description !== undefined || schema.enum?.length === 1 || refersIn(schema)
      if (!isDescribed) missing.push(`${path}.${field}`)
      visit(schema, `${path}.${field}`)
    }
    for (const inner of Object.values(others)) visit(inner, path)
  }
  visit(value, "")
  return missing
}

// `npm run published` writes the files again, and a review shows the changes.
describe("the published contract", () => {
  it("has every file", () => {
    for (const name of ["descriptions.json", "openapi.json", "operations.txt"])
      assert.isTrue(existsSync(file(name)), name)
  })

  it("takes its descriptions from the doc comments of the schemas", () =>
    expect(descriptionsText()).toMatchFileSnapshot(file("descriptions.json")))

  it("matches the schemas in openapi.json", () => expect(openApiText()).toMatchFileSnapshot(file("openapi.json")))

  it("lists every operation in operations.txt", () =>
    expect(operationsText()).toMatchFileSnapshot(file("operations.txt")))

  const { components, paths, tags }: Document = JSON.parse(openApiText())

  it("allows unknown fields only in requests that ignore them", () => {
    const { schemas } = components
    for (const name of [
      "ChatCompletionRequest",
      "ResponsesRequest",
      "ResponsesTokensRequest",
      "ResponsesSaidMessage"
    ]) {
      assert.notInclude(JSON.stringify(schemas[name]), '"additionalProperties":false', name)
    }
    for (const name of [
      "EstimateRequest",
      "ResponsesReasoning",
      "ChatReasoning",
      "RoutingPolicy",
      "MessagesRequest",
      "Response"
    ]) {
      assert.isFalse(schemas[name].additionalProperties, name)
    }
  })

  it("describes keys, free objects and lists in a form that client generators understand", () => {
    assert.strictEqual(components.securitySchemes.bearer.scheme, "bearer")
    const { content } = components.schemas.ChatMessage.anyOf[0].properties
    assert.deepStrictEqual(content.anyOf[1], {
      type: "array",
      items: { $ref: "#/components/schemas/ChatTextPart" },
      minItems: 1,
      maxItems: 512
    })
    const { parameters } = components.schemas.ChatTool.properties.function.properties
    assert.deepStrictEqual(parameters.anyOf[0], { type: "object", additionalProperties: true })
  })

  it("documents the same restricted fields for estimates as for chat", () => {
    const chat = { model: "m", messages: [{ role: "user", content: "hi" }] }
    for (const [name, { enum: values }] of Object.entries(TAKEN.chat)) {
      assert.deepStrictEqual(
        components.schemas.EstimateRequest.properties[name],
        components.schemas.ChatCompletionRequest.properties[name],
        name
      )
      for (const value of values as ReadonlyArray<unknown>) {
        assert.isTrue(Result.isSuccess(decodeEstimate({ ...chat, [name]: value })), `${name}: ${String(value)}`)
      }
    }
    assert.isTrue(Result.isSuccess(decodeEstimate({ ...chat, provider: {} })))
  })

  it("lists the accepted values of fields with restricted values", () => {
    const requests = {
      chat: (more: object): Result.Result<DecodedRequest, Failure> =>
        decodeChat({ model: "m", messages: [{ role: "user", content: "hi" }], ...more }),
      responses: (more: object): Result.Result<DecodedRequest, Failure> =>
        decodeResponses({ model: "m", input: "hi", ...more }, undefined)
    }
    for (const dialect of ["chat", "responses"] as const) {
      for (const [name, { enum: values }] of Object.entries(TAKEN[dialect])) {
        for (const value of values as ReadonlyArray<unknown>) {
          const decoded = requests[dialect]({ [name]: value })
          assert.deepStrictEqual(Result.isSuccess(decoded) && decoded.success.ignored, [], `${name}: ${String(value)}`)
        }
        assert.isTrue(Result.isFailure(requests[dialect]({ [name]: "another" })), name)
      }
    }
  })

  it("describes the events of every stream, and the header with the low-balance warning", () => {
    for (const name of ["ChatCompletionChunk", "ResponsesStreamEvent", "ResponseBegun", "MessagesStreamEvent"]) {
      assert.property(components.schemas, name)
    }
    assert.property(paths["/api/v1/responses"].post.responses["200"].headers, "X-Balance-Warning")
  })

  it("describes every schema", () => {
    const schemas = Object.entries<{ readonly description?: string }>(components.schemas)
    assert.deepStrictEqual(
      schemas.filter(([, { description }]) => description === undefined).map(([name]) => name),
      []
    )
  })

  it("describes every parameter", () => {
    const missing = operations.flatMap(({ method, path }) =>
      (paths[path][method.toLowerCase()].parameters as ReadonlyArray<{ name: string; description?: string }>)
        .filter(({ description }) => description === undefined)
        .map(({ name }) => `${method} ${path} ${name}`)
    )
    assert.deepStrictEqual(missing, [])
    const [limit] = paths["/api/v1/requests"].get.parameters
    assert.strictEqual(limit.description, "The number of entries on a page: 1 to 100; default 50.")
  })

  it("describes every field of every request, answer and event", () => {
    assert.deepStrictEqual(fieldsWithoutDescription(paths, components.schemas), [])
    const { properties } = components.schemas.ChatImagePart.properties.image_url
    assert.strictEqual(properties.url.description, "An https URL, or a data URL with base64.")
  })

  it("describes the fields of each object in a union separately", () => {
    const contents = components.schemas.ChatMessage.anyOf.map(
      // oxlint-disable-next-line typescript/no-explicit-any
      ({ properties }: any) => [properties.role.enum[0], properties.content.description]
    )
    assert.deepStrictEqual(Object.fromEntries(contents), {
      system: "Text as a string or in parts.",
      developer: "Text as a string or in parts.",
      user: "Text as a string, or text, images and files as parts.",
      assistant: "Text as a string, or text and refusals as parts.",
      tool: "Text as a string, or text, images and files as parts."
    })
  })

  it("describes every tag, in reading order", () => {
    const names = tags.map(({ name }) => name)
    assert.deepStrictEqual(names.slice(0, 4), ["chat", "responses", "messages", "embeddings"])
    assert.strictEqual(new Set(names).size, names.length)
    for (const { description, name } of tags) assert.match(description, /^[A-Z].*\.$/, name)
  })

  it("describes every response in a sentence, and every security scheme", () => {
    for (const { id, method, path } of operations) {
      const responses = Object.entries<{ readonly description: string }>(paths[path][method.toLowerCase()].responses)
      for (const [status, { description }] of responses) {
        assert.match(description, /^[A-Z`].* .*\.$/, `${id} ${status}`)
      }
    }
    for (const scheme of Object.values<object>(components.securitySchemes)) assert.property(scheme, "description")
  })

  it("states the charge, limit, scope and credential of each operation", () => {
    for (const { charge, credentials, id, limit, method, path, scope } of operations) {
      const operation = paths[path][method.toLowerCase()]
      assert.deepStrictEqual(
        ["x-charge", "x-limit", "x-scope", "x-credential"].map((name) => operation[name]),
        [charge, limit, scope, [...credentials]],
        id
      )
    }
  })

  it("gives each operation a unique id of words and dots", () => {
    const ids = operations.map(({ id }) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
    for (const id of ids) assert.match(id, /^[a-z_]+(\.[a-z_]+)*$/)
  })

  it("refers only to existing rate limits", () => {
    for (const { id, limit } of operations) assert.property(limits, limit, id)
  })

  it("documents 409 and 422 for every operation that accepts an idempotency key", () => {
    for (const { id, idempotent, method, path } of operations) {
      const announced = Object.keys(paths[path][method.toLowerCase()].responses)
      if (idempotent === "by key") assert.includeMembers(announced, ["409", "422"], id)
    }
  })

  it("gives webhook operations the same idempotency with either kind of key", () => {
    const found = new Map(operations.map(({ id, idempotent }) => [id, idempotent]))
    const managed = [...found].filter(([id]) => id.startsWith("management.webhooks."))
    assert.isNotEmpty(managed)
    for (const [id, idempotent] of managed) {
      assert.strictEqual(found.get(id.replace("management.", "")), idempotent, id)
    }
  })

  it("lets a client repeat every paid operation under an idempotency key", () => {
    for (const { charge, id, idempotent } of operations) {
      if (charge !== "free") assert.strictEqual(idempotent, "by key", id)
    }
  })
})
