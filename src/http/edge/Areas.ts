/** Defines the common properties of responses under a path prefix, such as CORS headers, and normalizes paths to find their prefix. */
import { type HttpMethod, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { FILES_PATH } from "../../platform/files/Media.ts"
import { API_PREFIX } from "./KnownPaths.ts"

/** The methods of operations. */
export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const satisfies ReadonlyArray<HttpMethod.HttpMethod>

/** The response headers that scripts of other origins may read. */
const EXPOSED = [
  "X-Request-ID",
  "Request-ID",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Retry-After-Ms",
  "X-Should-Retry",
  "Idempotency-Replayed",
  "X-Svc-Sandbox",
  "X-Svc-Ignored-Parameters",
  "X-Svc-Cache-Status",
  "X-Balance-Warning",
  "X-Cost-USD",
  "X-Svc-Preset",
  "X-Svc-Preset-Version",
  "X-Audit-Status"
].join(", ")

const cors = { "access-control-allow-origin": "*", "access-control-expose-headers": EXPOSED }

/** Pages of other origins may request ranges of files and use conditional requests. */
const filesCors = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "X-Request-ID, Accept-Ranges, Content-Length, Content-Range, ETag"
}

/** The response to a CORS preflight. */
export const preflight = HttpServerResponse.empty({
  status: 204,
  headers: {
    "access-control-allow-methods": [...METHODS, "OPTIONS"].join(", "),
    "access-control-allow-headers": "*, Authorization",
    "access-control-max-age": "86400"
  }
})

/** Whether a request is a CORS preflight. */
export const isPreflight = (request: Pick<HttpServerRequest.HttpServerRequest, "headers" | "method">): boolean =>
  request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined

/** The common properties of all responses under a path prefix. */
export interface Area {
  readonly headers: Readonly<Record<string, string>>
  /** Whether pages of any origin may send a CORS preflight. */
  readonly preflight: boolean
  /** Whether clients must not retry a failed write automatically. */
  readonly writesOnce: boolean
}

/** No cache may store an account's data or its errors. */
const notKept = { "cache-control": "no-store" }

/** The first prefix that matches a path applies. */
const areas: ReadonlyArray<readonly [prefix: string, Area]> = [
  // The cookie is only for pages of this service: no page of another site may read a response, or send a preflight.
  [`${API_PREFIX}/console`, { headers: notKept, preflight: false, writesOnce: true }],
  // Operators reach every account, so no page of another origin may read a response, or send a preflight.
  [`${API_PREFIX}/operator`, { headers: notKept, preflight: false, writesOnce: true }],
  [`${API_PREFIX}/management`, { headers: { ...notKept, ...cors }, preflight: true, writesOnce: true }],
  [`${API_PREFIX}/payments`, { headers: { ...notKept, ...cors }, preflight: true, writesOnce: false }],
  [API_PREFIX, { headers: cors, preflight: true, writesOnce: false }],
  [FILES_PATH, { headers: filesCors, preflight: true, writesOnce: false }]
]

const elsewhere: Area = { headers: {}, preflight: false, writesOnce: false }

/** Whether a path is a prefix, or below it. */
export const isIn = (path: string, prefix: string): boolean =>
  path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === "/")

/** Returns the area of a path. */
export const areaOf = (path: string): Area => areas.find(([prefix]) => isIn(path, prefix))?.[1] ?? elsewhere

/** The path of a URL without its query. */
export const pathOf = (url: string): string => url.split("?", 1)[0] ?? url

const decoded = (path: string): string => {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/**
 * The path of a request in the form that the router uses, which accepts several spellings of a path. URLs without an origin are
 * resolved, escapes are decoded except where a character has a meaning in paths, and double slashes become single ones.
 */
export const routedPath = (url: string): string => {
  const target = url.startsWith("/") ? url : url.replace(/^https?:\/\/.*?\//, "/")
  const path = target.split(/[?;#]/, 1)[0] ?? target
  const plain = path.includes("%") ? decoded(path) : path
  return plain.includes("//") ? plain.replace(/\/{2,}/g, "/") : plain
}
