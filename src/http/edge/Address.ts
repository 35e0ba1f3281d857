import { type BlockList, isIP } from "node:net"

const family = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4")

/** An IPv4 address that arrived through an IPv6 socket, in its plain form. */
const plain = (address: string): string => address.trim().replace(/^::ffff:(?=\d+\.)/i, "")

/** The host of a hop. Some proxies, such as Azure's and IIS, append the port: `198.51.100.1:5678`, `[2001:db8::1]:5678`. */
const hostOf = (hop: string): string => /^\s*(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?\s*$/.exec(hop)?.slice(1).join("") ?? hop

/** A client may own the whole /64 of its IPv6 address, so limits count it as one client. */
const groupOf = (address: string): string => {
  if (isIP(address) !== 6) return address
  const [head = "", tail] = address.split("::")
  const front = head === "" ? [] : head.split(":")
  const back = tail === undefined || tail === "" ? [] : tail.split(":")
  const full = tail === undefined ? front : [...front, ...Array(8 - front.length - back.length).fill("0"), ...back]
  return `${full.slice(0, 4).join(":")}::/64`
}

const isTrusted = (address: string, trusted: BlockList): boolean =>
  isIP(address) !== 0 && trusted.check(address, family(address))

/** Whether a trusted proxy reports that the client used https. When several proxies add a value, the first one describes the client. */
export const cameByHttps = (
  peer: string | undefined,
  forwardedProto: string | undefined,
  trusted: BlockList
): boolean =>
  isTrusted(plain(peer ?? "unknown"), trusted) &&
  (forwardedProto ?? "").split(",", 1)[0]?.trim().toLowerCase() === "https"

/**
 * The address under which a request is counted: the peer's or, behind trusted proxies, the last one in `X-Forwarded-For` that is not a
 * trusted proxy.
 */
export const clientAddress = (
  peer: string | undefined,
  forwardedFor: string | undefined,
  trusted: BlockList
): string => {
  let address = plain(peer ?? "unknown")
  const hops = (forwardedFor ?? "").split(",").map((hop) => plain(hostOf(hop)))
  while (isTrusted(address, trusted) && hops.length > 0) {
    const hop = hops.pop() ?? ""
    if (isIP(hop) === 0) break
    address = hop
  }
  return groupOf(address)
}
