/** Requests for images, speech and videos as code that runs without changes. */
import { indented, keyInJs, keyInPython, python, quoted, type Snippet } from "./Snippets.ts"

export type MediaKind = "image" | "speech" | "video"

/** The request of a tab of the playground. */
export interface MediaCall {
  readonly kind: MediaKind
  readonly origin: string
  /** The secret, or a variable of the shell. */
  readonly key: string
  readonly body: Readonly<Record<string, unknown>>
}

const paths = { image: "images/generations", speech: "audio/speech", video: "videos" } as const

const curlOf = ({ body, key, kind, origin }: MediaCall, options: string): string =>
  [
    `curl ${options}${origin}/api/v1/${paths[kind]} \\`,
    `  -H "Authorization: Bearer ${key}" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${quoted(JSON.stringify(body))}`
  ].join("\n")

/** The request as curl commands. A video is a job, so its commands poll until the job has ended. */
const curl = (call: MediaCall): string => {
  if (call.kind !== "video") return curlOf(call, call.kind === "speech" ? "-o speech.mp3 " : "")
  return [
    `ID=$(${curlOf(call, "-s ").replaceAll("\n", "\n  ")} | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')`,
    `until curl -s ${call.origin}/api/v1/videos/$ID -H "Authorization: Bearer ${call.key}" | grep -E '"status":"(completed|failed)"'`,
    `do sleep 3; done`
  ].join("\n")
}

const uses = {
  image: {
    method: "images.generate",
    shown: ["for (const image of result.data) console.log(image.url ?? image.b64_json)"]
  },
  speech: {
    method: "audio.speech.create",
    shown: [`await writeFile("speech.mp3", Buffer.from(await result.arrayBuffer()))`]
  }
} as const

const openai = ({ body, key, kind, origin }: MediaCall & { readonly kind: "image" | "speech" }): string =>
  [
    ...(kind === "speech" ? [`import { writeFile } from "node:fs/promises"`] : []),
    `import OpenAI from "openai"`,
    ``,
    `const client = new OpenAI({ baseURL: "${origin}/api/v1", apiKey: ${keyInJs(key)} })`,
    `const result = await client.${uses[kind].method}(${indented(body)})`,
    ...uses[kind].shown
  ].join("\n")

const pythonCode = ({ body, key, kind, origin }: MediaCall & { readonly kind: "image" | "speech" }): string => {
  const { code, imports } = keyInPython(key)
  const call = `client.${kind === "image" ? "images.generate" : "audio.speech.create"}(**${python(body)})`
  return [
    ...imports,
    `from openai import OpenAI`,
    ``,
    `client = OpenAI(base_url="${origin}/api/v1", api_key=${code})`,
    `result = ${call}`,
    ...(kind === "image"
      ? [`for image in result.data:`, `    print(image.url or image.b64_json)`]
      : [`result.write_to_file("speech.mp3")`])
  ].join("\n")
}

/** The request with the AI SDK, which has its own names for the fields. Its OpenAI provider sends speech, and its compatible one images. */
const aiSdk = ({ body, key, kind, origin }: MediaCall & { readonly kind: "image" | "speech" }): string => {
  const { input, model, prompt, ...settings } = body
  const [name, make, method] =
    kind === "image"
      ? (["generateImage", "createOpenAICompatible", "imageModel"] as const)
      : (["experimental_generateSpeech", "createOpenAI", "speech"] as const)
  const options = {
    ...(kind === "image" ? { prompt } : { text: input }),
    ...settings
  }
  return [
    `import { writeFile } from "node:fs/promises"`,
    `import { ${make} } from "@ai-sdk/${kind === "image" ? "openai-compatible" : "openai"}"`,
    `import { ${name === "generateImage" ? name : `${name} as generateSpeech`} } from "ai"`,
    ``,
    `const tollgate = ${make}({ name: "tollgate", baseURL: "${origin}/api/v1", apiKey: ${keyInJs(key)} })`,
    `const result = await ${kind === "image" ? name : "generateSpeech"}({`,
    `  model: tollgate.${method}(${JSON.stringify(model)}),`,
    ...Object.entries(options).map(([field, value]) => `  ${field}: ${JSON.stringify(value)},`),
    `})`,
    ...(kind === "image"
      ? [`for (const [at, image] of result.images.entries()) await writeFile(\`image-\${at}.png\`, image.uint8Array)`]
      : [`await writeFile("speech.mp3", result.audio.uint8Array)`])
  ].join("\n")
}

const typedEnds: Readonly<Record<MediaKind, ReadonlyArray<string>>> = {
  image: ["for (const image of result.data) console.log(image.url)"],
  speech: [`await writeFile("speech.mp3", Buffer.from(await result.arrayBuffer()))`],
  video: [
    `let job = result`,
    `while (job.status === "queued" || job.status === "processing") {`,
    `  await new Promise((resolve) => setTimeout(resolve, 3_000))`,
    `  job = await client.call("videos.get", { path: { id: job.id } })`,
    `}`,
    `console.log(job.video_url ?? job.error)`
  ]
}

const operations = { image: "images.generations", speech: "audio.speech", video: "videos.create" } as const

const typed = ({ body, key, kind, origin }: MediaCall): string =>
  [
    ...(kind === "speech" ? [`import { writeFile } from "node:fs/promises"`] : []),
    `import { createClient } from "tollgate/client"`,
    ``,
    `const client = createClient({ baseUrl: "${origin}", apiKey: ${keyInJs(key)} })`,
    `const result = await client.call("${operations[kind]}", { body: ${indented(body)} })`,
    ...typedEnds[kind]
  ].join("\n")

/** The request in each language. Only curl and the typed client know the videos of this API. */
export const mediaSnippetsOf = (call: MediaCall): ReadonlyArray<Snippet> => {
  const { kind } = call
  const others =
    kind === "video"
      ? []
      : [
          { name: "OpenAI", language: "javascript", code: openai({ ...call, kind }) } as const,
          { name: "Python", language: "python", code: pythonCode({ ...call, kind }) } as const,
          { name: "AI SDK", language: "javascript", code: aiSdk({ ...call, kind }) } as const
        ]
  return [
    { name: "curl", language: "bash", code: curl(call) },
    ...others,
    { name: "Typed client", language: "javascript", code: typed(call) }
  ]
}
