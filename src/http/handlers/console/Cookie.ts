/** The cookie of a session (RFC 6265). */
import { Duration } from "effect"
import { SESSION_LIFE } from "../../../account/OwnerSessions.ts"
import { API_PREFIX } from "../../edge/KnownPaths.ts"

const NAME = "svc_session"

/** Reads and writes the cookie for a service with one base URL. */
export interface SessionCookie {
  /** The header value that sets the cookie. */
  readonly of: (token: string) => string
  /** The header value that deletes the cookie. */
  readonly none: string
  /** The tokens under the cookie's name in a request; more than one when another site's page has added a cookie. */
  readonly tokensIn: (header: string | undefined) => ReadonlyArray<string>
}

/**
 * No script can read the cookie, and no page of another site sends it. With https its name has the prefix `__Host-` (RFC 6265bis,
 * 4.1.3.2), which no other host of the domain can set, and which requires the path `/`. With http, where that prefix is ignored, the
 * cookie is limited to the API's path.
 */
export const sessionCookie = (base: string, byHttps: boolean): SessionCookie => {
  const { pathname, protocol } = new URL(base)
  const secure = byHttps || protocol === "https:"
  const name = secure ? `__Host-${NAME}` : NAME
  const place = secure ? "Path=/; Secure" : `Path=${pathname.replace(/\/+$/, "")}${API_PREFIX}`
  const written = (value: string, seconds: number) =>
    `${name}=${value}; Max-Age=${seconds}; ${place}; HttpOnly; SameSite=Strict`
  return {
    of: (token) => written(token, Duration.toSeconds(SESSION_LIFE)),
    none: written("", 0),
    tokensIn: (header = "") =>
      header.split(";").flatMap((pair) => {
        const at = pair.indexOf("=")
        return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : []
      })
  }
}
