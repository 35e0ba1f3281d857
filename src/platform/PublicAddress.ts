/** Which addresses a caller may have this service connect to. */
import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/** Globally routed unicast addresses of IPv6 (RFC 4291, 2.4, and IANA's registry): no others are anybody's. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse("2000::")

/** By which a network without IPv4 reaches IPv4 (RFC 6052); what its last four octets say is where a packet goes. */
const NAT64 = ipaddr.IPv6.parse("64:ff9b::")

/** The IPv4 address that a packet to this IPv6 address ends at, where there is one. */
const embedded = (address: ipaddr.IPv6): ipaddr.IPv4 | undefined =>
  address.range() === "ipv4Mapped" || address.match(NAT64, 96)
    ? new ipaddr.IPv4(address.toByteArray().slice(-4))
    : undefined

/**
 * The address as the network takes it; undefined for what is none, and for one with a zone, which is nobody's but a link's. A URL
 * writes IPv6 in groups alone: dotted ones at the end would be taken for a mapped address whatever stands before them.
 */
const parsed = (address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  const family = isIP(address)
  if (family === 0 || address.includes("%")) return undefined
  if (family === 4) return ipaddr.IPv4.parse(address)
  const found = ipaddr.IPv6.parse(new URL(`http://[${address}]`).hostname.slice(1, -1))
  return embedded(found) ?? found
}

/**
 * Whether an IP address is of the public internet. Private, shared, loopback, link-local, multicast, documentation and reserved
 * networks are not, nor are the tunnels of 6to4 and Teredo; an IPv4 address within one of IPv6 counts as itself.
 */
export const isPublicAddress = (address: string): boolean => {
  const found = parsed(address)
  if (found === undefined || found.range() !== "unicast") return false
  return found instanceof ipaddr.IPv4 || found.match(GLOBAL_UNICAST, 3)
}

/** Whether an IP address is of this machine alone. */
export const isLoopbackAddress = (address: string): boolean => parsed(address)?.range() === "loopback"

/** Whether a name is this machine's by definition (RFC 6761, 6.3). */
export const isLocalhost = (hostname: string): boolean => /^(.+\.)?localhost\.?$/i.test(hostname)
