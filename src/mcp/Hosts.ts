/** Which `Host` and `Origin` headers the MCP server accepts, so that no web page reaches it by a rebound name. */
import { isIP } from "node:net"

/** The host name of an authority or an origin, without a port and in lower case; undefined for any other text. */
const hostnameOf = (text: string): string | undefined => {
  try {
    return new URL(text.includes("://") ? text : `http://${text}`).hostname.toLowerCase()
  } catch {
    return undefined
  }
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  (isIP(hostname) === 4 && hostname.startsWith("127."))

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0

/**
 * Reports whether a `Host` header names this service. An attacker rebinds a public name that it owns, so the gateway accepts every
 * IP address, `localhost`, names of one label such as those of a container network, and the host of `PUBLIC_URL`.
 */
export const isOwnHost = (host: string | undefined, publicUrl: string): boolean => {
  const hostname = host === undefined ? undefined : hostnameOf(host)
  if (hostname === undefined) return false
  return isLoopback(hostname) || isAddress(hostname) || !hostname.includes(".") || hostname === hostnameOf(publicUrl)
}

/**
 * Reports whether a page of this origin may send a request that has this accepted `Host`: pages of the service itself and of the
 * caller's own machine. Clients that are not browsers send no `Origin`.
 */
export const isOwnOrigin = (origin: string | undefined, host: string | undefined, publicUrl: string): boolean => {
  if (origin === undefined) return true
  const hostname = hostnameOf(origin)
  if (hostname === undefined || !/^https?:\/\//i.test(origin)) return false
  return (
    isLoopback(hostname) || hostname === hostnameOf(publicUrl) || (host !== undefined && hostname === hostnameOf(host))
  )
}
