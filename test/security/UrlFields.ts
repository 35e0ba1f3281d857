/** The request fields of the published contract that may contain a URL. */
import { openApiText } from "../support/Published.ts"

type Json = Readonly<Record<string, unknown>>

const document = JSON.parse(openApiText())

/** Names of fields that contain URLs, or things that an API may accept by URL. */
const NAMED =
  /ur[li]|href|link|callback|redirect|host|address|endpoint|webhook|image|video|audio|picture|avatar|logo|file/i

const DESCRIBED = /\bUR[LI]s?\b|https?:/

/** A text field of a request, by its operation and its path in the body. A list is `*`, and a field with any name is `{}`. */
export interface UrlField {
  readonly operation: string
  readonly path: string
}

const isText = (schema: Json): boolean =>
  schema["type"] === "string" && schema["enum"] === undefined && schema["const"] === undefined

const described = ({ description }: Json): boolean => typeof description === "string" && DESCRIBED.test(description)

const partsOf = (schema: Json, name: string): ReadonlyArray<Json> => (schema[name] ?? []) as ReadonlyArray<Json>

function* textsIn(
  of: Json,
  path: ReadonlyArray<string>,
  isUrl: boolean,
  within: ReadonlyArray<string>
): Generator<string> {
  const name = String(of["$ref"] ?? "")
    .split("/")
    .at(-1)!
  if (name !== "" && within.includes(name)) return
  const schema: Json = document.components.schemas[name] ?? of
  const inside = name === "" ? within : [...within, name]
  const mayBe = isUrl || described(of) || described(schema)
  if (isText(schema) && mayBe) yield path.join(".")
  for (const alternative of ["anyOf", "oneOf", "allOf"]) {
    for (const part of partsOf(schema, alternative)) yield* textsIn(part, path, mayBe, inside)
  }
  for (const [member, part] of Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, Json>>)) {
    // The description of an object applies to its text fields, not to nested ones.
    yield* textsIn(part, [...path, member], NAMED.test(member) || (mayBe && isText(part)), inside)
  }
  for (const part of [schema["items"] as Json | undefined, ...partsOf(schema, "prefixItems")]) {
    if (part !== undefined) yield* textsIn(part, [...path, "*"], mayBe, inside)
  }
  const rest = schema["additionalProperties"]
  if (typeof rest === "object" && rest !== null) yield* textsIn(rest as Json, [...path, "{}"], mayBe, inside)
}

interface PublishedRequest {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> }
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly schema: Json }>
}

const requests = Object.values(document.paths as Readonly<Record<string, Readonly<Record<string, PublishedRequest>>>>)
  .flatMap((methods) => Object.values(methods))
  .filter(({ operationId }) => operationId !== undefined)

/** Every text field of a request that may contain a URL. */
export const urlFields: ReadonlyArray<UrlField> = requests.flatMap(({ operationId, parameters = [], requestBody }) => {
  const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => [...textsIn(schema, [], false, [])])
  const queries = parameters.flatMap(({ name, schema }) => [...textsIn(schema, [`?${name}`], NAMED.test(name), [])])
  return [...new Set([...bodies, ...queries])].map((path) => ({ operation: operationId, path }))
})
