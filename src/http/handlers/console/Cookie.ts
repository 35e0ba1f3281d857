/** The cookie of a session (RFC 6265). */
import { Duration } from "effect"
import { OPERATOR_SESSION_LIFE } from "../../../account/OperatorSessions.ts"
import { SESSION_LIFE } from "../../../account/OwnerSessions.ts"
import { API_PREFIX } from "../../edge/KnownPaths.ts"

/** Reads and writes the cookie for a service with one base URL. */
export interface SessionCookie {
  /** The header value that sets the cookie. */
  readonly of: (token: string) => string
  /** The header value that deletes the cookie. */
  readonly none: string
  /** The tokens under the cookie's name in a request; more than one when another site's page has added a cookie. */
  readonly tokensIn: (header: string | undefined) => ReadonlyArray<string>
}

/** What distinguishes the cookies of two kinds of sessions. */
interface Kind {
  readonly name: string
  readonly life: Duration.Duration
  /** The path below the base URL to which the cookie is limited. */
  readonly path: string
  /** The prefix of the name with https, and the path that the cookie then has. */
  readonly secure: { readonly prefix: string; readonly path: (limited: string) => string }
}

const makeCookie =
  ({ life, name: plain, path, secure: ofHttps }: Kind) =>
  (base: string, byHttps: boolean): SessionCookie => {
    const { pathname, protocol } = new URL(base)
    const secure = byHttps || protocol === "https:"
    const limited = `${pathname.replace(/\/+$/, "")}${path}`
    const name = secure ? `${ofHttps.prefix}${plain}` : plain
    const place = secure ? `Path=${ofHttps.path(limited)}; Secure` : `Path=${limited}`
    const written = (value: string, seconds: number) =>
      `${name}=${value}; Max-Age=${seconds}; ${place}; HttpOnly; SameSite=Strict`
    return {
      of: (token) => written(token, Duration.toSeconds(life)),
      none: written("", 0),
      tokensIn: (header = "") =>
        header.split(";").flatMap((pair) => {
          const at = pair.indexOf("=")
          return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : []
        })
    }
  }

/**
 * The cookie of an owner's session. No script can read it, and no page of another site sends it. With https its name has the prefix
 * `__Host-` (RFC 6265bis, 4.1.3.2), which no other host of the domain can set, and which requires the path `/`. With http, where that
 * prefix is ignored, the cookie is limited to the API's path.
 */
export const sessionCookie = makeCookie({
  name: "svc_session",
  life: SESSION_LIFE,
  path: API_PREFIX,
  secure: { prefix: "__Host-", path: () => "/" }
})

/**
 * The cookie of an operator's session, which browsers send to the operator's operations alone. So with https its name has the prefix
 * `__Secure-`, which allows a path. Another host of the domain could add a cookie of this name; a request with two is refused.
 */
export const operatorCookie = makeCookie({
  name: "svc_operator",
  life: OPERATOR_SESSION_LIFE,
  path: `${API_PREFIX}/operator`,
  secure: { prefix: "__Secure-", path: (limited) => limited }
})
