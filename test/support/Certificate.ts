/** Makes self-signed certificates, so that the tree contains no keys. */
import { generateKeyPairSync, sign } from "node:crypto"
import { isIPv4 } from "node:net"

const tagged = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(parts)
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => tagged(0x30, ...parts)
const bytes = (hex: string) => Buffer.from(hex, "hex")
const identifier = (hex: string) => tagged(0x06, bytes(hex))
const bits = (value: Uint8Array) => tagged(0x03, Buffer.from([0]), value)
const moment = (text: string) => tagged(0x18, Buffer.from(text))

// Object identifiers of X.509: ecdsa-with-SHA256, commonName, subjectAltName and basicConstraints.
const SIGNATURE = sequence(identifier("2a8648ce3d040302"))
const COMMON_NAME = identifier("550403")
const ALT_NAME = identifier("551d11")
const CONSTRAINTS = identifier("551d13")

const pem = (label: string, der: Buffer) =>
  `-----BEGIN ${label}-----\n${der
    .toString("base64")
    .match(/.{1,64}/g)!
    .join("\n")}\n-----END ${label}-----\n`

/** A DNS name, or the bytes of an IPv4 address (RFC 5280, 4.2.1.6). */
const generalName = (name: string) =>
  isIPv4(name) ? tagged(0x87, Buffer.from(name.split(".").map(Number))) : tagged(0x82, Buffer.from(name))

/** A new key and a self-signed certificate in PEM for these DNS names and IPv4 addresses (RFC 5280, 4.1). */
export const certificateFor = (...names: ReadonlyArray<string>): { readonly key: string; readonly cert: string } => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const name = sequence(tagged(0x31, sequence(COMMON_NAME, tagged(0x0c, Buffer.from(names[0]!)))))
  const alternatives = sequence(...names.map(generalName))
  const extensions = sequence(
    sequence(ALT_NAME, tagged(0x04, alternatives)),
    sequence(CONSTRAINTS, tagged(0x04, sequence(tagged(0x01, bytes("ff")))))
  )
  const content = sequence(
    tagged(0xa0, tagged(0x02, bytes("02"))),
    tagged(0x02, bytes("01")),
    SIGNATURE,
    name,
    sequence(moment("20200101000000Z"), moment("21200101000000Z")),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, extensions)
  )
  const signed = sequence(content, SIGNATURE, bits(sign("sha256", content, privateKey)))
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }) as string, cert: pem("CERTIFICATE", signed) }
}
