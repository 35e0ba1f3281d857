/** The paths of the service, and the answer to requests without a route. */
import type { HttpApiEndpoint } from "effect/http-api"
import { Api } from "../../../schemas/Api.ts"
import type { Reason } from "../../domain/Failure.ts"
import { FILES_PATH } from "../../platform/files/Media.ts"
import type { ErrorForm } from "./Exchange.ts"

/** The path prefix of all operations. */
export const API_PREFIX = "/api/v1"

/** The OpenAPI document, which does not list itself. */
export const OPENAPI_PATH = `${API_PREFIX}/openapi.json`

/** The path of the MCP server. */
export const MCP_PATH = "/mcp"

/** The path of a file, by its id. */
export const FILE_ROUTE = `${FILES_PATH}/:id` as const

/** Endpoint groups with an error form of their own. */
const forms: Readonly<Record<string, ErrorForm>> = {
  legacy: "legacy",
  legacyVideos: "legacy",
  sessions: "legacy",
  messages: "messages"
}

/** The form of errors of a group of operations. */
export const formOf = (group: string): ErrorForm => forms[group] ?? "standard"

/** A path with operations, and their methods. A HEAD request takes the route of GET. */
export interface KnownPath {
  readonly path: string
  readonly methods: ReadonlySet<string>
  readonly allowed: ReadonlyArray<string>
  readonly form: ErrorForm
}

const listed = (): ReadonlyArray<KnownPath> => {
  const methodsByPath = new Map<string, Set<string>>([
    [OPENAPI_PATH, new Set(["GET"])],
    [FILE_ROUTE, new Set(["GET"])]
  ])
  const formByPath = new Map<string, ErrorForm>()
  for (const [name, group] of Object.entries(Api.groups)) {
    for (const endpoint of Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>) {
      methodsByPath.set(endpoint.path, (methodsByPath.get(endpoint.path) ?? new Set()).add(endpoint.method))
      formByPath.set(endpoint.path, formOf(name))
    }
  }
  return Array.from(methodsByPath, ([path, methods]) => ({
    path,
    methods,
    allowed: methods.has("GET") ? [...methods, "HEAD"] : [...methods],
    form: formByPath.get(path) ?? "standard"
  }))
}

export const knownPaths: ReadonlyArray<KnownPath> = listed()

const patterns = knownPaths.map((known) => {
  const parts = known.path.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : part.replaceAll(".", "\\.")))
  return { known, pattern: new RegExp(`^${parts.join("/")}/?$`) }
})

const knownAt = (path: string): KnownPath | undefined => patterns.find(({ pattern }) => pattern.test(path))?.known

/** Matches prefixes of clients with a wrong base URL: without `/api/v1`, with half of it, or with it twice. */
const MISPLACED = /^(?:\/(?:api|v1))*(?=\/|$)/

/** The path of the operation that a wrong path was probably meant for. */
const meantBy = (path: string): string | undefined => {
  const meant = API_PREFIX + path.replace(MISPLACED, "")
  return meant !== path && knownAt(meant) !== undefined ? meant : undefined
}

/** Whether a path is probably that of an operation, with a wrong prefix. */
export const isMisplaced = (path: string): boolean => meantBy(path) !== undefined

/** Operations of OpenAI's and Anthropic's APIs that this service has in another form, or not at all. */
const elsewhere: ReadonlyArray<readonly [path: RegExp, hint: string]> = [
  [/^\/completions$/, `send \`messages\` to ${API_PREFIX}/chat/completions`],
  [/^\/images\/(?:edits|variations)$/, `send \`image\` as a URL to ${API_PREFIX}/images/generations`],
  [/^\/messages\/batches(?:\/|$)/, `batches are at ${API_PREFIX}/batches, in OpenAI's form`],
  [/^\/(?:responses|conversations)(?:\/|$)/, "the gateway stores no responses"],
  [/^\/chat\/completions\//, `the gateway stores no completions; receipts are at ${API_PREFIX}/requests`],
  [
    /^\/(?:audio\/(?:transcriptions|translations)|moderations|assistants|threads|vector_stores|fine_tuning|realtime|uploads|evals|containers)(?:\/|$)/,
    "the gateway does not offer this operation"
  ]
]

const hintFor = (path: string): string | undefined => {
  if (path.endsWith(MCP_PATH)) return `the MCP server is at ${MCP_PATH}`
  const meant = meantBy(path)
  if (meant !== undefined) return `this operation is at ${meant}`
  const within = path.replace(MISPLACED, "")
  const hint = elsewhere.find(([known]) => known.test(within))?.[1]
  return hint ?? (path.startsWith(`${API_PREFIX}/`) ? undefined : `the API is below ${API_PREFIX}`)
}

/**
 * Whether a client of Anthropic's API probably sent a request to an unknown path: below a wrong base URL, or for an operation that does
 * not exist, such as batches. That client reads no other error form.
 */
const isOfMessages = (path: string): boolean =>
  path.replace(MISPLACED, "").startsWith("/messages/") || /\/messages(?:\/count_tokens)?\/?$/.test(path)

export interface RoutingFailure {
  readonly reason: Reason
  readonly form: ErrorForm | undefined
}

const MODELS = `${API_PREFIX}/models/`

/** Returns the failure of a request without a route. `path` is normalised; `originalPath` is as the client sent it. */
export const routingFailureOf = (method: string, path: string, originalPath: string): RoutingFailure => {
  const known = knownAt(path)
  // A path that cannot be decoded has no route even if its method is allowed.
  if (known !== undefined && !known.allowed.includes(method)) {
    return { reason: { _tag: "MethodNotAllowed", method, allowed: known.allowed }, form: known.form }
  }
  // The id of a model may contain slashes, so any path below may be one.
  if (path.startsWith(MODELS) && (method === "GET" || method === "HEAD")) {
    return { reason: { _tag: "NotFound", what: "model", id: path.slice(MODELS.length) }, form: undefined }
  }
  const form = isOfMessages(path) ? "messages" : undefined
  return { reason: { _tag: "UnknownRoute", method, path: originalPath, hint: hintFor(path) }, form }
}
