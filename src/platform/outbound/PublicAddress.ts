/** Decides to which addresses a caller may have this service connect. */
import ipaddr from "ipaddr.js"
import { isIP } from "node:net"

/** The globally routed unicast addresses of IPv6 (RFC 4291, 2.4, and IANA's registry). No other range is assigned to public hosts. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse("2000::")

/**
 * The prefix through which a network without IPv4 reaches IPv4 (RFC 6052). The last four octets are the IPv4 address that receives the
 * packet.
 */
const NAT64 = ipaddr.IPv6.parse("64:ff9b::")

/** The IPv4 address that receives a packet for this IPv6 address, if there is one. */
const embedded = (address: ipaddr.IPv6): ipaddr.IPv4 | undefined =>
  address.range() === "ipv4Mapped" || address.match(NAT64, 96)
    ? new ipaddr.IPv4(address.toByteArray().slice(-4))
    : undefined

/**
 * Parses an address the way the network uses it. Undefined for text that is not an address, and for an address with a zone, which is
 * valid on one link only. A URL writes IPv6 in groups only: the parser would take dotted octets at the end for a mapped address,
 * whatever stands before them.
 */
const parsed = (address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  const family = isIP(address)
  if (family === 0 || address.includes("%")) return undefined
  if (family === 4) return ipaddr.IPv4.parse(address)
  const found = ipaddr.IPv6.parse(new URL(`http://[${address}]`).hostname.slice(1, -1))
  return embedded(found) ?? found
}

/**
 * Whether an IP address belongs to the public internet. Private, shared, loopback, link-local, multicast, documentation and reserved
 * networks do not, nor do the tunnels of 6to4 and Teredo. An IPv4 address embedded in an IPv6 address counts as itself.
 */
export const isPublicAddress = (address: string): boolean => {
  const found = parsed(address)
  if (found === undefined || found.range() !== "unicast") return false
  return found instanceof ipaddr.IPv4 || found.match(GLOBAL_UNICAST, 3)
}

/** Whether an IP address is a loopback address. */
export const isLoopbackAddress = (address: string): boolean => parsed(address)?.range() === "loopback"

/** Whether a name denotes this machine by definition (RFC 6761, 6.3). */
export const isLocalhost = (hostname: string): boolean => /^(.+\.)?localhost\.?$/i.test(hostname)
