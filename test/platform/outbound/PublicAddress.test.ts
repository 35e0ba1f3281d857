import { assert, describe, it } from "@effect/vitest"
import { BlockList } from "node:net"
import { isLocalhost, isLoopbackAddress, isPublicAddress } from "../../../src/platform/outbound/PublicAddress.ts"
import { Random, seeds } from "../../ledger/Random.ts"

/** IANA's special-purpose registry for IPv4, and multicast: addresses that are not public. */
const special4: ReadonlyArray<readonly [network: string, bits: number]> = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4]
]

const numberOf = (address: string) => address.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0)
const octetsOf = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff)
const dotted = (value: number) => octetsOf(value).join(".")
const groups = (value: number) => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`

const specials = new BlockList()
for (const [network, bits] of special4) specials.addSubnet(network, bits)

const within = (random: Random, [network, bits]: readonly [string, number]) =>
  numberOf(network) + random.below(2 ** (32 - bits))

/** The same address in every notation that a URL accepts. */
const notations = (value: number): ReadonlyArray<string> => {
  const [a, b, c, d] = octetsOf(value) as [number, number, number, number]
  const hex = (part: number) => `0x${part.toString(16)}`
  const octal = (part: number) => `0${part.toString(8)}`
  return [
    dotted(value),
    `${dotted(value)}.`,
    String(value),
    hex(value),
    octal(value),
    [a, b, c, d].map(hex).join("."),
    [a, b, c, d].map(octal).join("."),
    `${hex(a)}.${octal(b)}.${c * 256 + d}`,
    `${a}.${b * 65_536 + c * 256 + d}`,
    `${a}.${hex(b)}.${c}.%3${d % 10}`.replace(
      /%3\d$/,
      String(d).replaceAll(/\d/g, (digit) => `%3${digit}`)
    ),
    dotted(value).replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    `[::ffff:${dotted(value)}]`,
    `[::ffff:${groups(value)}]`,
    `[0:0:0:0:0:FFFF:${groups(value)}]`,
    `[64:ff9b::${dotted(value)}]`
  ]
}

/** Addresses that route packets to another address than the embedded one. */
const tunnels = (value: number): ReadonlyArray<string> => [
  `2002:${groups(value)}::1`,
  `2001:0:4136:e378:8000:63bf:${groups(~value >>> 0)}`,
  `::${dotted(value)}`,
  `::ffff:0:${dotted(value)}`,
  `64:ff9b:1::${dotted(value)}`
]

const hostOf = (notation: string) => new URL(`https://${notation}/`).hostname.replace(/^\[(.*)\]$/, "$1")

describe("PublicAddress", () => {
  it("accepts addresses of the public internet", () => {
    for (const address of [
      "1.1.1.1",
      "93.184.215.14",
      "100.63.255.255",
      "100.128.0.0",
      "172.32.0.1",
      "223.255.255.255"
    ]) {
      assert.isTrue(isPublicAddress(address), address)
    }
    for (const address of ["2606:4700:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::8.8.8.8"]) {
      assert.isTrue(isPublicAddress(address), address)
    }
  })
  it("rejects all other addresses in every notation", () => {
    const none = ["", "localhost", "1.1.1", "0x7f000001", "2130706433", "1.1.1.1/8", "[::1]", "example.com"]
    const six = [
      "::",
      "::1",
      "fe80::1",
      "fe80::1%eth0",
      "2606:4700::1%1",
      "fc00::1",
      "fd12:3456::1",
      "fec0::1",
      "ff02::1"
    ]
    const more = ["100::1", "2001:db8::1", "2001:2::1", "2001:10::1", "2001:20::1", "3fff::1", "5f00::1", "4000::1"]
    for (const address of [...none, ...six, ...more]) assert.isFalse(isPublicAddress(address), address)
    for (const [network] of special4) assert.isFalse(isPublicAddress(network), network)
    assert.isFalse(isPublicAddress("255.255.255.255"))
  })
  it("recognizes loopback addresses", () => {
    for (const address of ["127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"]) {
      assert.isTrue(isLoopbackAddress(address), address)
    }
    for (const address of ["0.0.0.0", "::", "128.0.0.1", "10.0.0.1", "::127.0.0.1", "::1%lo", "localhost"]) {
      assert.isFalse(isLoopbackAddress(address), address)
    }
    for (const name of ["localhost", "LOCALHOST", "localhost.", "a.b.localhost"]) assert.isTrue(isLocalhost(name), name)
    for (const name of ["localhost.example.com", "mylocalhost", "", "."]) assert.isFalse(isLocalhost(name), name)
  })
  for (const seed of seeds(1)) {
    it(`rejects addresses of special networks in every notation, and accepts all others (LEDGER_SEED=${seed})`, () => {
      const random = new Random(seed)
      for (let round = 0; round < 2_000; round++) {
        const value = random.chance(0.7) ? within(random, random.pick(special4)) : random.below(2 ** 32)
        const expected = !specials.check(dotted(value))
        for (const notation of notations(value)) {
          assert.strictEqual(isPublicAddress(hostOf(notation)), expected, `${notation} of ${dotted(value)}`)
        }
        for (const tunnel of tunnels(value)) {
          assert.isFalse(isPublicAddress(tunnel), tunnel)
          assert.isFalse(isLoopbackAddress(tunnel), tunnel)
        }
      }
    })
  }
})
