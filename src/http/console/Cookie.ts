/** The cookie of a session (RFC 6265). */
import { Duration } from "effect"
import { SESSION_LIFE } from "../../account/OwnerSessions.ts"
import { API_PREFIX } from "../Edge.ts"

export const COOKIE = "svc_session"

/** For the console's operations alone, wherever the service stands; no page reads it, and no page of another site sends it. */
const attributesOf = (base: string): string => {
  const { pathname, protocol } = new URL(base)
  const path = `${pathname.replace(/\/+$/, "")}${API_PREFIX}/console`
  return `Path=${path}; HttpOnly; SameSite=Strict${protocol === "https:" ? "; Secure" : ""}`
}

/** Sets it, for a service that is reached at this address. */
export const cookieOf = (token: string, base: string): string =>
  `${COOKIE}=${token}; Max-Age=${Duration.toSeconds(SESSION_LIFE)}; ${attributesOf(base)}`

/** Takes it away. */
export const noCookie = (base: string): string => `${COOKIE}=; Max-Age=0; ${attributesOf(base)}`
