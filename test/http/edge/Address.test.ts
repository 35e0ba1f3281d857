import { assert, describe, it } from "@effect/vitest"
import { BlockList } from "node:net"
import { cameByHttps, clientAddress } from "../../../src/http/edge/Address.ts"

const noProxies = new BlockList()
const proxies = new BlockList()
proxies.addSubnet("10.0.0.0", 8, "ipv4")
proxies.addAddress("192.0.2.9", "ipv4")
proxies.addSubnet("fd00::", 8, "ipv6")

/** Peer, `X-Forwarded-For`, whom to trust, and the address that is counted. */
const rows: ReadonlyArray<readonly [string, string | undefined, string | undefined, BlockList, string]> = [
  ["the peer", "203.0.113.5", undefined, noProxies, "203.0.113.5"],
  ["no peer", undefined, undefined, noProxies, "unknown"],
  ["no peer, whatever is forwarded", undefined, "203.0.113.5", proxies, "unknown"],
  ["IPv4 in IPv6", "::ffff:203.0.113.5", undefined, noProxies, "203.0.113.5"],
  ["a stranger's claim", "203.0.113.5", "198.51.100.1", noProxies, "203.0.113.5"],
  ["a stranger's claim beside trusted proxies", "203.0.113.5", "198.51.100.1", proxies, "203.0.113.5"],
  ["behind a proxy", "10.0.0.1", "198.51.100.1", proxies, "198.51.100.1"],
  ["behind a proxy that is IPv4 in IPv6", "::ffff:10.0.0.1", "198.51.100.1", proxies, "198.51.100.1"],
  ["behind two", "10.0.0.1", "198.51.100.1, 192.0.2.9", proxies, "198.51.100.1"],
  ["an invented hop before the true one", "10.0.0.1", "1.2.3.4, 198.51.100.1, 10.9.9.9", proxies, "198.51.100.1"],
  ["blanks around hops", "10.0.0.1", "  198.51.100.1  ,10.0.0.2 ", proxies, "198.51.100.1"],
  ["IPv4 in IPv6 behind a blank", "10.0.0.1", "1.2.3.4, ::ffff:198.51.100.1, ::FFFF:10.0.0.2", proxies, "198.51.100.1"],
  ["proxies only", "10.0.0.1", "10.0.0.3, 10.0.0.2", proxies, "10.0.0.3"],
  ["a proxy that forwards nothing", "10.0.0.1", undefined, proxies, "10.0.0.1"],
  ["a hop with its port", "10.0.0.1", "1.2.3.4:80, 198.51.100.1:5678, 10.0.0.2:443", proxies, "198.51.100.1"],
  ["IPv4 in IPv6 with its port", "10.0.0.1", "[::ffff:198.51.100.1]:5678", proxies, "198.51.100.1"],
  ["IPv6 with its port", "10.0.0.1", "[2001:db8:1:2::5]:5678", proxies, "2001:db8:1:2::/64"],
  ["IPv6 in brackets", "10.0.0.1", "[2001:db8:1:2::5]", proxies, "2001:db8:1:2::/64"],
  ["a port without an address", "10.0.0.1", ":5678", proxies, "10.0.0.1"],
  ["a hop that is no address", "10.0.0.1", "198.51.100.1, unknown", proxies, "10.0.0.1"],
  ["an empty header", "10.0.0.1", "", proxies, "10.0.0.1"],
  ["a proxy over IPv6", "fd00::1", "198.51.100.1", proxies, "198.51.100.1"],
  ["an IPv6 client behind a proxy", "10.0.0.1", "2001:db8:1:2:3:4:5:6", proxies, "2001:db8:1:2::/64"]
]

describe("the address of a client", () => {
  for (const [name, peer, forwarded, trusted, expected] of rows) {
    it(name, () => {
      assert.strictEqual(clientAddress(peer, forwarded, trusted), expected)
    })
  }

  it("is the same for a whole /64", () => {
    const of = (peer: string) => clientAddress(peer, undefined, noProxies)
    assert.strictEqual(of("2001:db8:1:2::1"), "2001:db8:1:2::/64")
    assert.strictEqual(of("2001:db8:1:2:ffff:ffff:ffff:ffff"), of("2001:db8:1:2::1"))
    assert.notStrictEqual(of("2001:db8:1:3::1"), of("2001:db8:1:2::1"))
    assert.strictEqual(of("2001:db8::1"), "2001:db8:0:0::/64")
    assert.strictEqual(of("2001:db8::3:0:0:0:1"), "2001:db8:0:3::/64")
    assert.strictEqual(of("::1"), "0:0:0:0::/64")
    assert.strictEqual(of("::"), "0:0:0:0::/64")
  })
})

describe("whether a client came by https", () => {
  it("is believed only from trusted proxies", () => {
    const said: ReadonlyArray<readonly [string | undefined, string | undefined, boolean]> = [
      ["10.0.0.1", "https", true],
      ["::ffff:10.0.0.1", "HTTPS", true],
      ["10.0.0.1", " https , http", true],
      ["10.0.0.1", "http, https", false],
      ["10.0.0.1", "http", false],
      ["10.0.0.1", undefined, false],
      ["203.0.113.5", "https", false],
      [undefined, "https", false]
    ]
    for (const [peer, proto, secure] of said) assert.strictEqual(cameByHttps(peer, proto, proxies), secure)
    assert.isFalse(cameByHttps("10.0.0.1", "https", noProxies))
  })
})
