/** Makes valid and broken values from the JSON Schemas of the published document. */
import { openApiText } from "./Published.ts"

type Json = Readonly<Record<string, unknown>>

/** Returns a number of at least 0 and below 1. */
export type Random = () => number

const document = JSON.parse(openApiText())

const resolve = (schema: Json): Json => {
  const name =
    String(schema["$ref"] ?? "")
      .split("/")
      .at(-1) ?? ""
  return document.components.schemas[name] ?? schema
}

const pick = <A>(random: Random, all: ReadonlyArray<A>): A => all[Math.floor(random() * all.length)]!

/** Texts that often break programs. */
const TEXTS = ["a", "Hello!", "日本語 é", "👩‍👩‍👧", "\u0000", "\ud800", "' OR 1=1 --", "%00%", "a".repeat(300), " ", "{}"]

const textOf = (schema: Json, random: Random): string => {
  const { maxLength = 1000, minLength = 0 } = schema as { readonly maxLength?: number; readonly minLength?: number }
  const text = pick(random, TEXTS).slice(0, maxLength)
  return text.length < minLength ? text.padEnd(minLength, "x") : text
}

const numberOf = (schema: Json, random: Random, whole: boolean): number => {
  const { maximum = 1000, minimum = 0 } = schema as { readonly maximum?: number; readonly minimum?: number }
  const [least, most] = [Math.max(minimum, -1000), Math.min(maximum, Math.max(minimum, -1000) + 1000)]
  const value = pick(random, [least, most, least + (most - least) * random()])
  return whole ? Math.round(value) : value
}

const DEEPEST = 5

/** Returns a value that should conform to a schema. It ignores patterns, so the caller checks the value. */
export const valueOf = (of: Json, random: Random, depth = 0): unknown => {
  const schema = resolve(of)
  if (Array.isArray(schema["enum"])) return pick(random, schema["enum"])
  if (Array.isArray(schema["anyOf"])) {
    const branches = schema["anyOf"] as ReadonlyArray<Json>
    return valueOf(depth > DEEPEST ? branches.at(-1)! : pick(random, branches), random, depth + 1)
  }
  switch (schema["type"]) {
    case "string":
      return textOf(schema, random)
    case "integer":
      return numberOf(schema, random, true)
    case "number":
      return numberOf(schema, random, false)
    case "boolean":
      return random() < 0.5
    case "null":
      return null
    case "array": {
      const {
        items,
        minItems = 0,
        prefixItems = []
      } = schema as {
        readonly items?: Json
        readonly minItems?: number
        readonly prefixItems?: ReadonlyArray<Json>
      }
      const more = depth > DEEPEST || items === undefined ? 0 : Math.floor(random() * 3)
      const count = Math.min(Math.max(minItems, more), 5)
      return Array.from({ length: count }, (_, at) => valueOf(prefixItems[at] ?? items ?? {}, random, depth + 1))
    }
    default: {
      const { properties = {}, required = [] } = schema as {
        readonly properties?: Readonly<Record<string, Json>>
        readonly required?: ReadonlyArray<string>
      }
      const chosen = Object.entries(properties).filter(
        ([name]) => required.includes(name) || (depth < DEEPEST && random() < 0.2)
      )
      return Object.fromEntries(chosen.map(([name, one]) => [name, valueOf(one, random, depth + 1)]))
    }
  }
}

/** Returns a valid body with some members replaced by other values of its schema. */
export const variantOf = (good: Json, of: Json, random: Random): Json => {
  const schema = resolve(of)
  const branch = Array.isArray(schema["anyOf"]) ? resolve(pick(random, schema["anyOf"] as ReadonlyArray<Json>)) : schema
  const properties = Object.entries((branch["properties"] ?? {}) as Readonly<Record<string, Json>>)
  if (properties.length === 0) return good
  const changes = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, properties))
  return { ...good, ...Object.fromEntries(changes.map(([name, one]) => [name, valueOf(one, random)])) }
}

/** Values of wrong types, or out of range. */
const WRONG = [7.5, -1, 1e15, "", "x", "x".repeat(5000), true, null, [], {}, [[]], { banana: 1 }]

/** Returns a body in which one value is replaced, is missing, or has an unknown member beside it. */
export const brokenOf = (good: unknown, random: Random): unknown => {
  if (typeof good !== "object" || good === null || random() < 0.15) return pick(random, WRONG)
  const names = Object.keys(good)
  if (Array.isArray(good)) {
    return names.length === 0
      ? pick(random, WRONG)
      : good.with(Number(pick(random, names)), brokenOf(pick(random, good), random))
  }
  if (names.length === 0 || random() < 0.2) return { ...good, banana: 1 }
  const name = pick(random, names)
  const { [name]: value, ...others } = good as Json
  return random() < 0.2 ? others : { ...others, [name]: brokenOf(value, random) }
}
