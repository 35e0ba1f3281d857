/** A PostgreSQL with a standby over TLS. Each has a certificate for its own name alone. */
import { Effect } from "effect"
import { chmodSync, chownSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { certificateFor } from "./Certificate.ts"
import { startReplicasWith } from "./Replicas.ts"
import { temporaryDirectory } from "./Directories.ts"

/** The host of each server in the URL. */
const names: Readonly<Record<string, string>> = { one: "localhost", two: "127.0.0.1" }

/** Starts both servers, which end when the scope closes. */
export const startTlsReplicas = Effect.gen(function* () {
  const directory = yield* temporaryDirectory
  chmodSync(directory, 0o755)
  const certificates = Object.entries(names).map(([server, name]) => {
    const { cert, key } = certificateFor(name)
    const path = join(directory, `${server}.key`)
    writeFileSync(path, key, { mode: 0o600 })
    // Where the tests run as root, the servers run as the user `nobody`.
    if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534)
    writeFileSync(join(directory, `${server}.crt`), cert)
    return cert
  })
  const authorities = join(directory, "authorities.pem")
  writeFileSync(authorities, certificates.join(""))
  const replicas = yield* startReplicasWith({
    settingsOf: (server) => [
      "ssl=on",
      `ssl_cert_file=${join(directory, `${server}.crt`)}`,
      `ssl_key_file=${join(directory, `${server}.key`)}`
    ]
  })
  const hosts = Object.values(names).map((name, index) => `${name}:${replicas.ports[index]}`)
  return {
    ...replicas,
    tlsUrl: `postgres://postgres@${hosts.join(",")}/postgres?sslmode=verify-full`,
    /** The certificates of both, for `NODE_EXTRA_CA_CERTS`. */
    authorities
  }
})
