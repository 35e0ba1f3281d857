/** The paths that the service answers at, and what is said of a request that no route takes. */
import type { HttpApiEndpoint } from "effect/http-api"
import { Api } from "../../schemas/Api.ts"
import type { Reason } from "../domain/Failure.ts"
import { FILES_PATH } from "../platform/Media.ts"
import type { ErrorForm } from "./Exchange.ts"

export const API_PREFIX = "/api/v1"

/** The document of the API, which the API does not list itself. */
export const OPENAPI_PATH = `${API_PREFIX}/openapi.json`

/** Where the MCP server is. */
export const MCP_PATH = "/mcp"

/** Where a file is, by its id. */
export const FILE_ROUTE = `${FILES_PATH}/:id` as const

/** Groups whose failures have a form of their own. */
const forms: Readonly<Record<string, ErrorForm>> = {
  legacy: "legacy",
  legacyVideos: "legacy",
  sessions: "legacy",
  messages: "messages"
}

/** A path with operations, and the methods of these. A HEAD goes where its GET goes. */
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
      formByPath.set(endpoint.path, forms[name] ?? "standard")
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

/** Prefixes with which clients ask when their base URL is not that of the API: without it, with half of it, or with one too many. */
const MISPLACED = /^(?:\/(?:api|v1))*(?=\/|$)/

/** Where the operation is that a path was meant for. */
const hintFor = (path: string): string | undefined => {
  const meant = API_PREFIX + path.replace(MISPLACED, "")
  if (meant !== path && knownAt(meant) !== undefined) return `this operation is at ${meant}`
  return path.startsWith(`${API_PREFIX}/`) ? undefined : `the API is below ${API_PREFIX}`
}

export interface Unrouted {
  readonly reason: Reason
  readonly form: ErrorForm | undefined
}

const MODELS = `${API_PREFIX}/models/`

/** Why a request is not served that no route takes: `path` is the one that was looked for, `asked` the one as it came. */
export const unrouted = (method: string, path: string, asked: string): Unrouted => {
  const known = knownAt(path)
  // A path that cannot be decoded has no route even where its method is allowed.
  if (known !== undefined && !known.allowed.includes(method)) {
    return { reason: { _tag: "MethodNotAllowed", method, allowed: known.allowed }, form: known.form }
  }
  // The id of a model may have slashes, so that any path below is one.
  if (path.startsWith(MODELS) && (method === "GET" || method === "HEAD")) {
    return { reason: { _tag: "NotFound", what: "model", id: path.slice(MODELS.length) }, form: undefined }
  }
  // Below messages only a client of Anthropic's asks for what there is not, as for its batches.
  const form = path.startsWith(`${API_PREFIX}/messages/`) ? "messages" : undefined
  return { reason: { _tag: "UnknownRoute", method, path: asked, hint: hintFor(path) }, form }
}
