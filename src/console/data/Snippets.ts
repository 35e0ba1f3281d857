/** Requests as code that runs without changes. */

type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } }

/** A message of a chat request. */
export interface CallMessage {
  readonly role: string
  readonly content: string | null | ReadonlyArray<Part>
  readonly tool_calls?: ReadonlyArray<{
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }>
  readonly tool_call_id?: string
}

export interface Call {
  readonly origin: string
  /** The secret, or a variable of the shell. */
  readonly key: string
  readonly model: string
  readonly messages: ReadonlyArray<CallMessage>
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface Snippet {
  readonly name: string
  readonly language: "bash" | "javascript" | "python"
  readonly code: string
}

interface Tool {
  readonly function: { readonly name: string; readonly description?: string; readonly parameters?: unknown }
}

/** Longer data URLs, such as images, are cut to this length in code. */
const LONGEST_DATA = 120

/** A text as one quoted word of the shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const bodyOf = ({ messages, model, parameters }: Call, more: object = {}) => ({
  model,
  messages,
  ...parameters,
  ...more
})

/** Whether the key is a variable of the shell, which each language reads in its own way. */
const isVariable = (key: string): boolean => key.startsWith("$")

/** The key as an expression of JavaScript. */
export const keyInJs = (key: string): string => (isVariable(key) ? `process.env.${key.slice(1)}` : JSON.stringify(key))

const curl = (call: Call): string =>
  [
    `curl -N ${call.origin}/api/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${call.key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${quoted(JSON.stringify(bodyOf(call, { stream: true })))}`
  ].join("\n")

/** A value as a literal of JavaScript on several lines. */
export const indented = (value: unknown): string => JSON.stringify(value, null, 2)

const openai = (call: Call): string =>
  [
    `import OpenAI from "openai"`,
    ``,
    `const client = new OpenAI({ baseURL: "${call.origin}/api/v1", apiKey: ${keyInJs(call.key)} })`,
    `const completion = await client.chat.completions.create(${indented(bodyOf(call))})`,
    `console.log(completion.choices[0].message)`
  ].join("\n")

/** A value as a literal of Python. */
export const python = (value: unknown, indent = ""): string => {
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

/** The body for OpenAI's Python client, which takes fields that it does not know in `extra_body`. */
const pythonBody = (call: Call): object => {
  const { router, routing, ...body } = bodyOf(call) as Record<string, unknown>
  const extra = { ...(routing === undefined ? {} : { routing }), ...(router === undefined ? {} : { router }) }
  return { ...body, ...(Object.keys(extra).length === 0 ? {} : { extra_body: extra }) }
}

/** The key as an expression of Python, and the imports that it needs. */
export const keyInPython = (key: string): { readonly code: string; readonly imports: ReadonlyArray<string> } =>
  isVariable(key)
    ? { code: `os.environ["${key.slice(1)}"]`, imports: ["import os"] }
    : { code: JSON.stringify(key), imports: [] }

const pythonCode = (call: Call): string => {
  const { code, imports } = keyInPython(call.key)
  return [
    ...imports,
    `from openai import OpenAI`,
    ``,
    `client = OpenAI(base_url="${call.origin}/api/v1", api_key=${code})`,
    `completion = client.chat.completions.create(**${python(pythonBody(call))})`,
    `print(completion.choices[0].message)`
  ].join("\n")
}

const systemOf = (messages: Call["messages"]): string =>
  messages
    .filter(({ role }) => role === "system")
    .map(({ content }) => content)
    .join("\n\n")

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}

const anthropicPart = (part: Part): object => {
  if (part.type === "text") return part
  const [, type, data] = /^data:([^;]+);base64,(.*)$/s.exec(part.image_url.url) ?? []
  const source =
    type === undefined ? { type: "url", url: part.image_url.url } : { type: "base64", media_type: type, data }
  return { type: "image", source }
}

const anthropicMessage = ({ content, role, tool_call_id: id, tool_calls: calls = [] }: CallMessage): object => {
  if (role === "tool") return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] }
  const parts = typeof content === "string" || content === null ? content : content.map(anthropicPart)
  if (calls.length === 0) return { role, content: parts }
  const uses = calls.map(({ function: { arguments: input, name }, id: called }) => ({
    type: "tool_use",
    id: called,
    name,
    input: parsed(input)
  }))
  return { role, content: [...(typeof parts === "string" ? [{ type: "text", text: parts }] : []), ...uses] }
}

const USUAL_MAX_TOKENS = 1_024

const anthropic = (call: Call): string => {
  const { max_tokens: most = USUAL_MAX_TOKENS, routing, temperature, tools = [], top_p: top } = call.parameters
  const system = systemOf(call.messages)
  const body = {
    model: call.model,
    max_tokens: most,
    ...(system === "" ? {} : { system }),
    messages: call.messages.filter(({ role }) => role !== "system").map(anthropicMessage),
    ...(temperature === undefined ? {} : { temperature }),
    ...(top === undefined ? {} : { top_p: top }),
    ...((tools as ReadonlyArray<Tool>).length === 0
      ? {}
      : {
          tools: (tools as ReadonlyArray<Tool>).map(({ function: { description, name, parameters } }) => ({
            name,
            ...(description === undefined ? {} : { description }),
            input_schema: parameters ?? { type: "object" }
          }))
        }),
    ...(routing === undefined ? {} : { routing })
  }
  return [
    `import Anthropic from "@anthropic-ai/sdk"`,
    ``,
    `const client = new Anthropic({ baseURL: "${call.origin}/api", apiKey: ${keyInJs(call.key)} })`,
    `const message = await client.messages.create(${indented(body)})`,
    `console.log(message.content)`
  ].join("\n")
}

const aiPart = (part: Part): object => (part.type === "text" ? part : { type: "image", image: part.image_url.url })

const aiMessage = (
  { content, role, tool_call_id: toolCallId, tool_calls: calls = [] }: CallMessage,
  nameOf: (id: string | undefined) => string
): object => {
  if (role === "tool") {
    const output = { type: "text", value: content }
    return { role, content: [{ type: "tool-result", toolCallId, toolName: nameOf(toolCallId), output }] }
  }
  const parts = typeof content === "string" || content === null ? content : content.map(aiPart)
  if (calls.length === 0) return { role, content: parts }
  const called = calls.map(({ function: { arguments: input, name }, id }) => ({
    type: "tool-call",
    toolCallId: id,
    toolName: name,
    input: parsed(input)
  }))
  return { role, content: [...(typeof parts === "string" ? [{ type: "text", text: parts }] : []), ...called] }
}

const aiSettings: Readonly<Record<string, string>> = {
  max_tokens: "maxOutputTokens",
  temperature: "temperature",
  top_p: "topP",
  seed: "seed"
}

const aiSdk = (call: Call): string => {
  const { routing, tools = [] } = call.parameters
  const definitions = tools as ReadonlyArray<Tool>
  const names = new Map(
    call.messages.flatMap(({ tool_calls: calls = [] }) => calls).map((one) => [one.id, one.function.name])
  )
  const settings = Object.entries(aiSettings).flatMap(([field, name]) =>
    call.parameters[field] === undefined ? [] : [`  ${name}: ${JSON.stringify(call.parameters[field])},`]
  )
  const system = systemOf(call.messages)
  const body = call.messages
    .filter(({ role }) => role !== "system")
    .map((message) => aiMessage(message, (id = "") => names.get(id) ?? "tool"))
  const toolLines = definitions.map(
    ({ function: { description, name, parameters } }) =>
      `    ${JSON.stringify(name)}: tool({ ${description === undefined ? "" : `description: ${JSON.stringify(description)}, `}inputSchema: jsonSchema(${JSON.stringify(parameters ?? { type: "object" })}) }),`
  )
  return [
    `import { createOpenAICompatible } from "@ai-sdk/openai-compatible"`,
    `import { ${definitions.length > 0 ? "jsonSchema, streamText, tool" : "streamText"} } from "ai"`,
    ``,
    `const tollgate = createOpenAICompatible({`,
    `  name: "tollgate",`,
    `  baseURL: "${call.origin}/api/v1",`,
    `  apiKey: ${keyInJs(call.key)}`,
    `})`,
    `const result = streamText({`,
    `  model: tollgate(${JSON.stringify(call.model)}),`,
    ...(system === "" ? [] : [`  system: ${JSON.stringify(system)},`]),
    ...settings,
    ...(definitions.length > 0 ? [`  tools: {`, ...toolLines, `  },`] : []),
    ...(routing === undefined ? [] : [`  providerOptions: { tollgate: { routing: ${JSON.stringify(routing)} } },`]),
    `  messages: ${indented(body).replaceAll("\n", "\n  ")}`,
    `})`,
    `for await (const text of result.textStream) process.stdout.write(text)`,
    ...(definitions.length > 0 ? [`console.log(await result.toolCalls)`] : [])
  ].join("\n")
}

const typed = (call: Call): string =>
  [
    `import { createClient } from "tollgate/client"`,
    ``,
    `const client = createClient({ baseUrl: "${call.origin}", apiKey: ${keyInJs(call.key)} })`,
    `for await (const chunk of client.stream("chat.completions", { body: ${indented(bodyOf(call))} })) {`,
    `  process.stdout.write(chunk.choices[0]?.delta.content ?? "")`,
    ...(call.parameters["tools"] === undefined
      ? []
      : [`  if (chunk.choices[0]?.delta.tool_calls) console.log(chunk.choices[0].delta.tool_calls)`]),
    `}`
  ].join("\n")

/** The call with its images cut short, so that the code stays readable. */
const shortened = (call: Call): Call =>
  JSON.parse(
    JSON.stringify(call, (_, value: unknown) =>
      typeof value === "string" && value.startsWith("data:") && value.length > LONGEST_DATA
        ? `${value.slice(0, LONGEST_DATA)}…`
        : value
    )
  ) as Call

/** The call in each language, the three most common ones first. */
export const snippetsOf = (whole: Call): ReadonlyArray<Snippet> => {
  const call = shortened(whole)
  return [
    { name: "curl", language: "bash", code: curl(call) },
    { name: "OpenAI", language: "javascript", code: openai(call) },
    { name: "Python", language: "python", code: pythonCode(call) },
    { name: "Anthropic", language: "javascript", code: anthropic(call) },
    { name: "AI SDK", language: "javascript", code: aiSdk(call) },
    { name: "Typed client", language: "javascript", code: typed(call) }
  ]
}

/** The first request of a new owner. */
export const firstCall = (origin: string, key: string): Call => ({
  origin,
  key,
  model: "gpt-4o-mini",
  messages: [{ role: "user", content: "Hello!" }],
  parameters: {}
})

/** Commands that upload the input of a batch and create the batch. */
export const batchSnippets = (origin: string): ReadonlyArray<Snippet> => {
  const line = {
    custom_id: "1",
    method: "POST",
    url: "/v1/chat/completions",
    body: { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
  }
  return [
    {
      name: "Upload",
      language: "bash",
      code: [
        `echo ${quoted(JSON.stringify(line))} > input.jsonl`,
        `curl ${origin}/api/v1/files -H "Authorization: Bearer $KEY" -F purpose=batch -F file=@input.jsonl`
      ].join("\n")
    },
    {
      name: "Run",
      language: "bash",
      code: [
        `curl ${origin}/api/v1/batches -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\`,
        `  -d '{"input_file_id": "'"$FILE"'", "endpoint": "/v1/chat/completions", "completion_window": "24h"}'`
      ].join("\n")
    }
  ]
}
