/** Writes the types of the typed client and its table of operations from the published document. */

/** A JSON Schema, as far as the document uses it. */
interface Schema {
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly prefixItems?: ReadonlyArray<Schema>
  readonly minItems?: number
  readonly pattern?: string
  readonly format?: string
}

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly required?: boolean
  readonly schema: Schema
  readonly description?: string
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Content; readonly required?: boolean }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

/** An OpenAPI document, as far as it is read here. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const HEADER = "// Written from schemas/published/openapi.json by `npm run published`; a change here is lost.\n"

const quoted = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

const comment = (text: string | undefined, indent = ""): string =>
  text === undefined ? "" : `${indent}/** ${text.replaceAll("*/", "*∕").replaceAll("\n", " ")} */\n`

const union = (types: ReadonlyArray<string>): string => [...new Set(types)].join(" | ") || "never"

const objectOf = ({ additionalProperties, properties = {}, required = [] }: Schema): string => {
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description)}readonly ${quoted(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`
  )
  if (members.length === 0) {
    const rest = typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown"
    return additionalProperties === false ? "Readonly<Record<string, never>>" : `Readonly<Record<string, ${rest}>>`
  }
  return `{\n${members.join("\n")}\n}`
}

const arrayOf = ({ items, minItems = 0, prefixItems = [] }: Schema): string => {
  const rest = items === undefined ? "unknown" : typeOf(items)
  if (prefixItems.length === 0) return `ReadonlyArray<${rest}>`
  const fixed = prefixItems.map((one, index) => (index < minItems ? typeOf(one) : `(${typeOf(one)})?`))
  return items === undefined ? `readonly [${fixed.join(", ")}]` : `readonly [${fixed.join(", ")}, ...Array<${rest}>]`
}

/** The TypeScript type of a schema's values. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "unknown"
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  if (schema.anyOf !== undefined) return `(${union(schema.anyOf.map(typeOf))})`
  if (schema.allOf !== undefined && schema.type === undefined) return `(${schema.allOf.map(typeOf).join(" & ")})`
  switch (schema.type) {
    case "string":
      return schema.format === "binary" ? "Blob" : "string"
    case "integer":
    case "number":
      return "number"
    case "boolean":
      return "boolean"
    case "null":
      return "null"
    case "array":
      return arrayOf(schema)
    case "object":
      return objectOf(schema)
    default:
      return "unknown"
  }
}

/** Numbers in a query are strings in the document, with the pattern of a number. */
const parameterType = ({ schema }: Parameter): string =>
  schema.type === "string" && schema.pattern?.includes("[Ee]") === true ? "number" : typeOf(schema)

const parametersOf = (operation: Operation, place: Parameter["in"]): string | undefined => {
  const all = (operation.parameters ?? []).filter((one) => one.in === place && one.name !== "idempotency-key")
  if (all.length === 0) return undefined
  const members = all.map(
    (one) =>
      `${comment(one.description)}readonly ${quoted(one.name)}${one.required === true ? "" : "?"}: ${parameterType(one)}`
  )
  return `{\n${members.join("\n")}\n}`
}

const MULTIPART = "multipart/form-data"
const EVENTS = "text/event-stream"

/** The content of the successful response. */
const answerOf = ({ responses }: Operation): Content =>
  Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1].content ?? {}

const answerType = (operation: Operation): string => {
  const content = answerOf(operation)
  const json = content["application/json"]?.schema
  return json === undefined ? "Blob" : typeOf(json)
}

const operationType = (operation: Operation): string => {
  const { requestBody } = operation
  const body = requestBody?.content["application/json"]?.schema
  const event = answerOf(operation)[EVENTS]?.schema
  const bodyType = requestBody?.content[MULTIPART] === undefined ? body && typeOf(body) : "FormData"
  const members = [
    ["path", parametersOf(operation, "path")],
    ["query", parametersOf(operation, "query")],
    ["headers", parametersOf(operation, "header")],
    ["body", bodyType],
    ["answer", answerType(operation)],
    ["event", event && typeOf(event)]
  ].flatMap(([name, type]) => (type === undefined ? [] : [`readonly ${name}: ${type}`]))
  const text = operation.summary ?? operation.description
  return `${comment(text)}readonly ${JSON.stringify(operation.operationId)}: {\n${members.join("\n")}\n}`
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
  )

/** The text of `src/client/Contract.ts`: every schema by its name, and the request and the response of each operation by its id. */
export const clientTypes = (document: Document): string => {
  const schemas = Object.entries(document.components.schemas)
    .filter(([name]) => !name.endsWith("ErrorEncoded"))
    .map(([name, schema]) => `${comment(schema.description)}export type ${name} = ${typeOf(schema)}\n`)
  const operations = operationsOf(document).map(({ operation }) => operationType(operation))
  const table = `/** The request and the response of each operation, by its id. */\nexport interface Operations {\n${operations.join("\n")}\n}\n`
  return [HEADER, ...schemas, table].join("\n")
}

/** Whether the objects of a schema have an array `data`. */
const isList = (schema: Schema | undefined, document: Document): boolean => {
  if (schema?.$ref !== undefined) return isList(document.components.schemas[schema.$ref.split("/").at(-1)!], document)
  return schema?.properties?.["data"]?.type === "array"
}

/** The text of `src/client/Operations.ts`: the method and path of each operation. */
export const clientOperations = (document: Document): string => {
  const rows = operationsOf(document).map(({ method, operation, path }) => {
    const { [EVENTS]: events, "application/json": json } = answerOf(operation)
    const marks = [
      ...((operation.parameters ?? []).some(({ name }) => name === "idempotency-key") ? ["keyed"] : []),
      ...(events === undefined ? [] : ["streams"]),
      ...(isList(json?.schema, document) ? ["lists"] : [])
    ]
    return `${JSON.stringify(operation.operationId)}: ${JSON.stringify([method, path, ...marks].join(" "))}`
  })
  const about =
    "/** The method and path of each operation by its id. `keyed` marks an operation with an idempotency key, `streams` one that can stream its answer, and `lists` one whose answer has an array `data`. */"
  return `${HEADER}\n${about}\nexport const operations = {\n${rows.join(",\n")}\n} as const\n`
}
