/** JSON Schemas with their references resolved inline, for models that read no references. */

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Keywords whose value is a schema, or a list of schemas. */
const OF_SCHEMAS = new Set([
  "items",
  "additionalItems",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "allOf",
  "anyOf",
  "oneOf",
  "prefixItems"
])

/** Keywords whose value has schemas under names of the caller's choice. */
const OF_NAMES = new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"])

/** The schema with another value for each schema directly within it. Names of properties and values of enumerations stay. */
export const mapSchemas = (schema: Json, map: (inner: Json) => unknown): Json => {
  const mapped = (value: unknown): unknown => (isObject(value) ? map(value) : value)
  const made: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (OF_NAMES.has(key) && isObject(value)) {
      set(made, key, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapped(one)])))
    } else if (OF_SCHEMAS.has(key)) {
      set(made, key, Array.isArray(value) ? value.map(mapped) : mapped(value))
    } else {
      set(made, key, value)
    }
  }
  return made
}

/** Treats a member named `__proto__` like any other. */
const set = (object: Record<string, unknown>, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

/** The target of a local reference such as `#/$defs/Name`; undefined when the schema has none. */
export const resolveRef = (root: Json, reference: unknown): Json | undefined => {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined
  let found: unknown = root
  for (const step of reference.slice(1).split("/").slice(1)) {
    const name = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Json)[name]
  }
  // `#name` is an anchor, not a path.
  return isObject(found) && /^#(?:\/|$)/.test(reference) ? found : undefined
}

const decoded = (step: string): string => {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** The levels that the inliner follows. Deeper schemas become any object. */
const MAX_LEVELS = 64

/** How often a definition may contain itself. The inliner uses fewer turns when the result would be too large. */
const MAX_TURNS = 2

/** The most characters of an inlined schema per character of the original. */
const GROWTH = 4

/** A schema may always grow to this many characters. */
const MIN_ROOM_CHARS = 16_384

/** Members that describe a schema and do not change which values it accepts. */
const ANNOTATIONS = new Set(["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"])

class Inliner {
  /** How many characters may still be written. */
  #left: number
  readonly #open = new Map<unknown, number>()
  readonly #root: Json
  readonly #turns: number

  constructor(root: Json, turns: number, room: number) {
    this.#root = root
    this.#turns = turns
    this.#left = room
  }

  /** Whether everything fitted. */
  get isWhole(): boolean {
    return this.#left >= 0
  }

  schema(schema: Json, levels: number): Json {
    const { $ref: reference, $defs: _, definitions: __, ...rest } = schema
    this.#left -= sizeOf(rest)
    if (this.#left < 0 || levels > MAX_LEVELS) return cut(rest)
    const inner = mapSchemas(rest, (one) => this.schema(one, levels + 1))
    return typeof reference === "string" ? this.#referring(inner, reference, levels) : inner
  }

  #referring(beside: Json, reference: string, levels: number): Json {
    const target = resolveRef(this.#root, reference)
    if (target === undefined) return beside
    const open = this.#open.get(target) ?? 0
    if (open > this.#turns) return cut({ ...target, ...beside })
    this.#open.set(target, open + 1)
    const there = this.schema(target, levels + 1)
    this.#open.set(target, open)
    const annotates = Object.keys(beside).every((key) => ANNOTATIONS.has(key))
    return annotates ? { ...there, ...beside } : { allOf: [there, beside] }
  }
}

/** The characters of a schema without the schemas within it. */
const sizeOf = (schema: Json): number => {
  let size = 2
  for (const [key, value] of Object.entries(schema)) {
    size += key.length + 4
    if (OF_NAMES.has(key) && isObject(value)) size += Object.keys(value).join('":{},"').length
    else if (!OF_SCHEMAS.has(key)) size += JSON.stringify(value)?.length ?? 0
  }
  return size
}

/** The replacement of a schema that the inliner does not follow. */
const cut = ({ description, type }: Json): Json => ({
  type: typeof type === "string" ? type : "object",
  ...(typeof description === "string" ? { description } : {})
})

/**
 * A JSON Schema with its local references replaced by their targets, and without definitions. A definition that contains itself
 * becomes any object after some levels. The schema grows to a bounded size. References to other documents are left out.
 */
export const inlineRefs = (schema: Json): Json => {
  const room = Math.max(MIN_ROOM_CHARS, JSON.stringify(schema).length * GROWTH)
  for (let turns = MAX_TURNS; ; turns--) {
    const inliner = new Inliner(schema, turns, room)
    const inlined = inliner.schema(schema, 0)
    if (inliner.isWhole || turns === 0) return inlined
  }
}

/** Whether a schema contains itself. */
export const isRecursive = (root: Json): boolean => {
  const open = new Set<Json>()
  const closed = new Set<Json>()
  const visit = (schema: Json): boolean => {
    if (open.has(schema)) return true
    if (closed.has(schema)) return false
    open.add(schema)
    const target = resolveRef(root, schema["$ref"])
    let found = target !== undefined && visit(target)
    mapSchemas(schema, (inner) => {
      found ||= visit(inner)
    })
    open.delete(schema)
    closed.add(schema)
    return found
  }
  return visit(root)
}
