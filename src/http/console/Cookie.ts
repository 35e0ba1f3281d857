/** The cookie of a session (RFC 6265). */
import { Duration } from "effect"
import { SESSION_LIFE } from "../../account/OwnerSessions.ts"
import { API_PREFIX } from "../KnownPaths.ts"

const NAME = "svc_session"

/** The cookie as it is written and read for a service that is reached in one way. */
export interface SessionCookie {
  /** Sets it. */
  readonly of: (token: string) => string
  /** Takes it away. */
  readonly none: string
  /** What a request has under its name, more than one where others put theirs beside ours. */
  readonly tokensIn: (header: string | undefined) => ReadonlyArray<string>
}

/**
 * No page reads it, and no page of another site sends it. By https it bears a name that no other host of the domain can set, which
 * wants the path of all (`__Host-`, RFC 6265bis, 4.1.3.2); by http, which gives nothing to that, it is for the console alone.
 */
export const sessionCookie = (base: string, byHttps: boolean): SessionCookie => {
  const { pathname, protocol } = new URL(base)
  const secure = byHttps || protocol === "https:"
  const name = secure ? `__Host-${NAME}` : NAME
  const place = secure ? "Path=/; Secure" : `Path=${pathname.replace(/\/+$/, "")}${API_PREFIX}/console`
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
