/** Requests as code that runs as it stands. */

export interface Call {
  readonly origin: string
  /** The secret, or a variable of the shell. */
  readonly key: string
  readonly model: string
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: string }>
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface Snippet {
  readonly name: string
  readonly code: string
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const bodyOf = ({ messages, model, parameters }: Call, more: object = {}) => ({
  model,
  messages,
  ...parameters,
  ...more
})

const curl = (call: Call): string =>
  [
    `curl -N ${call.origin}/api/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${call.key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${quoted(JSON.stringify(bodyOf(call, { stream: true })))}`
  ].join("\n")

const indented = (value: unknown, spaces: number): string =>
  JSON.stringify(value, null, 2).replaceAll("\n", `\n${" ".repeat(spaces)}`)

const javascript = (call: Call): string =>
  [
    `import OpenAI from "openai"`,
    ``,
    `const client = new OpenAI({ baseURL: "${call.origin}/api/v1", apiKey: "${call.key}" })`,
    `const completion = await client.chat.completions.create(${indented(bodyOf(call), 0)})`,
    `console.log(completion.choices[0].message.content)`
  ].join("\n")

/** A value as a literal of Python. */
const python = (value: unknown, indent = ""): string => {
  const inner = `${indent}    `
  const block = (open: string, items: ReadonlyArray<string>, close: string) =>
    items.length === 0 ? open + close : `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`
  if (value === null || value === undefined) return "None"
  if (typeof value === "boolean") return value ? "True" : "False"
  if (Array.isArray(value))
    return block(
      "[",
      value.map((one) => python(one, inner)),
      "]"
    )
  if (typeof value !== "object") return JSON.stringify(value)
  const fields = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${python(one, inner)}`)
  return block("{", fields, "}")
}

const pythonCode = (call: Call): string =>
  [
    `from openai import OpenAI`,
    ``,
    `client = OpenAI(base_url="${call.origin}/api/v1", api_key="${call.key}")`,
    `completion = client.chat.completions.create(**${python(bodyOf(call))})`,
    `print(completion.choices[0].message.content)`
  ].join("\n")

const typed = (call: Call): string =>
  [
    `import { createClient } from "tollgate/client"`,
    ``,
    `const client = createClient({ baseUrl: "${call.origin}", apiKey: "${call.key}" })`,
    `for await (const chunk of client.stream("chat.completions", { body: ${indented(bodyOf(call), 0)} })) {`,
    `  process.stdout.write(chunk.choices[0]?.delta.content ?? "")`,
    `}`
  ].join("\n")

/** One call in each language. */
export const snippetsOf = (call: Call): ReadonlyArray<Snippet> => [
  { name: "curl", code: curl(call) },
  { name: "JavaScript", code: javascript(call) },
  { name: "Python", code: pythonCode(call) },
  { name: "Typed client", code: typed(call) }
]

/** The request that a newcomer sends first. */
export const firstCall = (origin: string, key: string): Call => ({
  origin,
  key,
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "Hello!" }],
  parameters: {}
})
