import { Context, Effect, Layer, Redacted } from "effect"
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto"
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { join } from "node:path"
import { Config } from "./Config.ts"
import { DataDirectory } from "./DataDirectory.ts"
import { StartError } from "./Variables.ts"

/** What an AES-256-GCM text begins with (NIST SP 800-38D): its nonce, then its tag. */
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Readable by the owner alone. */
const KEY_MODE = 0o600

/**
 * Secrets that the service must know again, such as what webhooks are signed with. Outside of this process they are only sealed,
 * under a key that is in no database: `SECRETS_KEY`, or a file in the data directory that the first start makes.
 */
export class Secrets extends Context.Service<
  Secrets,
  {
    /** Says which key this is, and nothing of it. Nodes with the same one can open what the others sealed. */
    readonly keyId: string
    /** `purpose` names the one place where it may be opened again. */
    readonly seal: (secret: Redacted.Redacted, purpose: string) => Uint8Array
    /** Undefined for what was sealed with another key, for another purpose, or changed since. */
    readonly open: (sealed: Uint8Array, purpose: string) => Redacted.Redacted | undefined
    /** 32 bytes by which a text is known again, and cannot be guessed: HMAC-SHA-256 (RFC 2104). Another one for each purpose. */
    readonly digest: (text: string, purpose: string) => Buffer
  }
>()("tollgate/platform/Secrets") {
  /** Fails, naming DATA_DIR, when the file of the key can be neither read nor made. */
  static readonly layer = Layer.effect(
    Secrets,
    Effect.gen(function* () {
      const { secretsKey } = yield* Config
      return makeSecrets(secretsKey ?? (yield* fileKey((yield* DataDirectory).path)))
    })
  )

  /** The same with this key. */
  static readonly layerFrom = (key: Redacted.Redacted) => Layer.sync(Secrets, () => makeSecrets(key))
}

const derive = (key: Redacted.Redacted, use: string): Buffer =>
  Buffer.from(hkdfSync("sha256", Redacted.value(key), "tollgate", use, 32))

const makeSecrets = (from: Redacted.Redacted) => {
  const key = derive(from, "sealing")
  const digests = derive(from, "digests")
  return Secrets.of({
    keyId: createHash("sha256").update(derive(from, "name")).digest("hex").slice(0, 16),
    // A length before it, so that no two pairs are the same bytes.
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

/** Whole or not at all, once, however many processes start: the first link stands, and all read what it names. */
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
