/** Values checked with the JSON Schemas of the published document, as a program that knows only the document would. */
import { type Schema, Validator } from "@cfworker/json-schema"
import { openApiText } from "./Published.ts"

const document = JSON.parse(openApiText())

const validators = new Map<string, Validator>()

const validatorOf = (schema: object): Validator => {
  const key = JSON.stringify(schema)
  const known = validators.get(key)
  if (known !== undefined) return known
  const whole = { ...schema, components: document.components } as Schema
  const validator = new Validator(whole, "2020-12", false)
  validators.set(key, validator)
  return validator
}

/** Returns what in a value breaks a schema of the document, or undefined. */
export const breach = (schema: object, value: unknown): string | undefined => {
  const { errors, valid } = validatorOf(schema).validate(value)
  return valid ? undefined : errors.map(({ error, instanceLocation }) => `${instanceLocation}: ${error}`).join("\n")
}
