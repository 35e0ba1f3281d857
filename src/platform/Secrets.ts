import { Context, Effect, Layer, Redacted } from "effect"
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { Config } from "./config/Config.ts"
import { DataDirectory } from "./database/DataDirectory.ts"
import { StartError } from "./config/Variables.ts"

/** The prefix of an AES-256-GCM ciphertext (NIST SP 800-38D): first the nonce, then the tag. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Only the owner can read the file. */
const KEY_MODE = 0o600

/**
 * Encrypts secrets that the service must read again, such as the signing secrets of webhooks. Outside of this process they exist only
 * encrypted. Their key is in no database: it is `SECRETS_KEY`, or a file that the first start creates in the data directory.
 */
export class Secrets extends Context.Service<
  Secrets,
  {
    /** Identifies the key without revealing any of it. Nodes with the same `keyId` can open each other's secrets. */
    readonly keyId: string
    /** Encrypts a secret. `purpose` names the one use for which `open` decrypts it. */
    readonly seal: (secret: Redacted.Redacted, purpose: string) => Uint8Array
    /** Undefined for data that was encrypted with another key or for another purpose, or was changed since. */
    readonly open: (sealed: Uint8Array, purpose: string) => Redacted.Redacted | undefined
    /** A 32-byte HMAC-SHA-256 (RFC 2104) that recognizes a text without revealing it. Each purpose has a different one. */
    readonly digest: (text: string, purpose: string) => Buffer
  }
>()("tollgate/platform/Secrets") {
  /** Fails with an error that names DATA_DIR when the key file can be neither read nor created. */
  static readonly layer = Layer.effect(
    Secrets,
    Effect.gen(function* () {
      const { secretsKey } = yield* Config
      return makeSecrets(secretsKey ?? (yield* fileKey((yield* DataDirectory).path)))
    })
  )

  /** The layer with the given key. */
  static readonly layerFrom = (key: Redacted.Redacted) => Layer.sync(Secrets, () => makeSecrets(key))
}

const derive = (key: Redacted.Redacted, use: string): Buffer =>
  Buffer.from(hkdfSync("sha256", Redacted.value(key), "tollgate", use, 32))

const makeSecrets = (from: Redacted.Redacted) => {
  const key = derive(from, "sealing")
  const digests = derive(from, "digests")
  return Secrets.of({
    keyId: createHash("sha256").update(derive(from, "name")).digest("hex").slice(0, 16),
    // The purpose's length comes first, so that no two pairs produce the same bytes.
    digest: (text, purpose) =>
      createHmac("sha256", digests)
        .update(`${Buffer.byteLength(purpose)} ${purpose} ${text}`)
        .digest(),
    seal: (secret, purpose) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(Redacted.value(secret), "utf8"), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open: (sealed, purpose) => {
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES
        })
        decipher.setAAD(Buffer.from(purpose)).setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        const opened = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
        return Redacted.make(opened.toString("utf8"))
      } catch {
        return undefined
      }
    }
  })
}

/**
 * Creates the file completely or not at all, and only once, however many processes start at the same time. The first link wins, and all
 * processes read the file it names.
 */
const makeFile = (path: string): void => {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`
  const file = openSync(draft, "wx", KEY_MODE)
  try {
    writeSync(file, `${randomBytes(32).toString("base64url")}\n`)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  } finally {
    closeSync(file)
    rmSync(draft, { force: true })
  }
}

const readFile = (path: string): Redacted.Redacted | undefined => {
  try {
    const text = readFileSync(path, "utf8").trim()
    if (text.length < 32) throw new Error(`${path} holds no key`)
    return Redacted.make(text)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

const fileKey = (directory: string): Effect.Effect<Redacted.Redacted, StartError> =>
  Effect.try({
    try: () => {
      const path = join(directory, "secrets.key")
      const there = readFile(path)
      if (there !== undefined) return there
      makeFile(path)
      return readFile(path)!
    },
    catch: (error) =>
      new StartError({
        message: `DATA_DIR ${directory} has no usable secrets.key: ${error instanceof Error ? error.message : "unreadable"}`
      })
  })
