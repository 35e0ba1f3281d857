/** A mail server on loopback that keeps the emails. */
import { Effect } from "effect"
import type { AddressInfo } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"

/** A received email. */
export interface Delivered {
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** The whole email with its headers. */
  readonly text: string
}

const refusal = (code: number, message: string) => Object.assign(new Error(message), { responseCode: code })

/**
 * Starts the server, which ends when the scope closes. It refuses emails to `nobody@…` with 550, to `syntax@…` with 501 and to
 * `later@…` with 451.
 */
export const postbox = (options: SMTPServerOptions = {}) =>
  Effect.gen(function* () {
    const emails: Array<Delivered> = []
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ["STARTTLS"],
      allowInsecureAuth: true,
      onRcptTo: ({ address }, _session, done) => {
        if (address.startsWith("nobody@")) return done(refusal(550, "no such user here"))
        if (address.startsWith("syntax@")) return done(refusal(501, "bad address syntax"))
        if (address.startsWith("later@")) return done(refusal(451, "try again later"))
        done()
      },
      onData: (stream, { envelope }, done) => {
        const chunks: Array<Buffer> = []
        stream.on("data", (chunk: Buffer) => void chunks.push(chunk))
        stream.on("end", () => {
          const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address
          const to = envelope.rcptTo.map(({ address }) => address)
          emails.push({ from, to, text: Buffer.concat(chunks).toString() })
          done()
        })
      },
      ...options
    })
    server.on("error", () => undefined)
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
    )
    const { port } = server.server.address() as AddressInfo
    return {
      host: `127.0.0.1:${port}`,
      /** The settings of a service that sends mail here. */
      settings: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: "Tollgate <no-reply@example.com>" },
      emails,
      /** The code in the newest email to an address that has one. Throws when there is none. */
      codeFor: (address: string): string => {
        const codes = emails.flatMap(({ text, to }) =>
          to.includes(address) ? (/^Subject: (\d{6}) /m.exec(text)?.slice(1) ?? []) : []
        )
        const code = codes.at(-1)
        if (code === undefined) throw new Error(`no code was sent to ${address}`)
        return code
      }
    }
  })

export type Postbox = Effect.Success<ReturnType<typeof postbox>>
