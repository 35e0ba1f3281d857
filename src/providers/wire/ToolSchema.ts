/** Converts schemas of tool arguments for hosts that accept only an object at the root, without choices. */
import { resolveRef } from "../../domain/SchemaRefs.ts"
import { type JsonObject, listOf, objectOf } from "./Json.ts"

/** Keywords that the hosts reject at the root. */
const REFUSED = new Set(["allOf", "anyOf", "oneOf", "not", "enum", "const", "$ref"])

const CHOICES = ["anyOf", "oneOf"] as const

/** The longest description of a schema's choices that is added for the model, in characters. */
const MAX_SAID_CHARS = 300

/** The members of an object with their schemas, by the JSON of each schema, and the required members. */
interface Shape {
  readonly properties: ReadonlyMap<string, ReadonlyMap<string, unknown>>
  readonly required: ReadonlySet<string>
}

const EMPTY: Shape = { properties: new Map(), required: new Set() }

/** The most schemas that are read below one root, because references can be circular and can multiply. */
const MAX_SCHEMAS = 1_000

const joined = (shapes: ReadonlyArray<Shape>): Shape["properties"] => {
  const properties = new Map<string, Map<string, unknown>>()
  for (const shape of shapes) {
    for (const [name, schemas] of shape.properties) {
      const known = properties.get(name) ?? new Map<string, unknown>()
      for (const [text, schema] of schemas) known.set(text, schema)
      properties.set(name, known)
    }
  }
  return properties
}

/** Reads the shape of one root. */
class Reader {
  readonly #root: JsonObject
  readonly #open = new Set<unknown>()
  #left = MAX_SCHEMAS

  constructor(root: JsonObject) {
    this.#root = root
  }

  shape(value: unknown): Shape {
    const schema = objectOf(value)
    if (schema === undefined || this.#open.has(schema) || this.#left-- <= 0) return EMPTY
    this.#open.add(schema)
    const inner = (one: unknown) => this.shape(one)
    const all = [ownShape(schema), inner(resolveRef(this.#root, schema["$ref"])), ...listOf(schema["allOf"]).map(inner)]
    for (const key of CHOICES) {
      const choices = listOf(schema[key]).map(inner)
      const [first, ...others] = choices
      if (first === undefined) continue
      const needed = [...first.required].filter((name) => others.every(({ required }) => required.has(name)))
      all.push({ properties: joined(choices), required: new Set(needed) })
    }
    this.#open.delete(schema)
    return { properties: joined(all), required: new Set(all.flatMap(({ required }) => [...required])) }
  }
}

const ownShape = ({ properties, required }: JsonObject): Shape => ({
  properties: new Map(
    Object.entries(objectOf(properties) ?? {}).map(([name, one]) => [name, new Map([[JSON.stringify(one), one]])])
  ),
  required: new Set(listOf(required).filter((name) => typeof name === "string"))
})

/** Describes for the model which members each choice requires; undefined when no choice requires any, or the text is too long. */
const choicesOf = (schema: JsonObject, always: ReadonlySet<string>): string | undefined => {
  const reader = new Reader(schema)
  for (const key of CHOICES) {
    const choices = listOf(schema[key]).map((one) =>
      [...reader.shape(one).required].filter((name) => !always.has(name)).join(" and ")
    )
    if (choices.every((names) => names === "")) continue
    const requirement = `Needs ${key === "anyOf" ? "at least" : "exactly"} one of: ${choices.map((names) => names || "none of these").join("; ")}.`
    return requirement.length > MAX_SAID_CHARS ? undefined : requirement
  }
  return undefined
}

/**
 * Returns a schema of arguments as one object with the members of all its parts and choices. It requires the members that every choice
 * requires, and the description says what each choice requires. A schema without parts and choices is unchanged except for its type, and
 * a schema of another type is returned unchanged.
 */
export const objectSchema = (schema: JsonObject): JsonObject => {
  const { type } = schema
  if (type !== undefined && type !== "object" && !listOf(type).includes("object")) return schema
  const open = { ...schema, type: "object" }
  if (!Object.keys(schema).some((key) => REFUSED.has(key))) return open
  const { properties, required } = new Reader(schema).shape(schema)
  const sentences = [schema["description"], choicesOf(schema, required)].filter((text) => typeof text === "string")
  const members = [...properties].map(([name, schemas]) => {
    const [one, ...others] = schemas.values()
    return [name, others.length === 0 ? one : { anyOf: [one, ...others] }] as const
  })
  return {
    ...Object.fromEntries(Object.entries(open).filter(([key]) => !REFUSED.has(key))),
    ...(sentences.length === 0 ? {} : { description: sentences.join(" ") }),
    properties: Object.fromEntries(members),
    ...(required.size === 0 ? {} : { required: [...required] })
  }
}
