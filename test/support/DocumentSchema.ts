/** Checks values against the JSON Schemas of the published document, as a program that knows only the document does. */
import { dereference, type Schema, validate } from "@cfworker/json-schema"
import { openApiText } from "./Published.ts"

const { components } = JSON.parse(openApiText())

const root = { components } as Schema

/** The schemas by their addresses. Creating the lookup takes longer than checking a value, so all named schemas share it. */
const named = dereference(root)

const inline = new Map<string, readonly [Schema, ReturnType<typeof dereference>]>()

/** A schema without a name, with the lookup of the schemas that it refers to. */
const inlineOf = (schema: object): readonly [Schema, ReturnType<typeof dereference>] => {
  const key = JSON.stringify(schema)
  const known = inline.get(key)
  if (known !== undefined) return known
  const whole = { ...structuredClone(schema), components: structuredClone(components) } as Schema
  const made = [whole, dereference(whole)] as const
  inline.set(key, made)
  return made
}

/** The faults of a value by a schema of the document, one a line; undefined without any. */
export const breach = (schema: object, value: unknown): string | undefined => {
  const reference = (schema as { readonly $ref?: string }).$ref
  const [from, lookup] =
    reference === undefined
      ? inlineOf(schema)
      : ([components.schemas[reference.split("/").at(-1)!] as Schema, named] as const)
  const { errors, valid } = validate(value, from, "2020-12", lookup, false)
  return valid ? undefined : errors.map(({ error, instanceLocation }) => `${instanceLocation}: ${error}`).join("\n")
}
