import { Context, Data, Effect, Layer, Redacted } from "effect"
import { Config, type MailSettings } from "../config/Config.ts"

/** A message to one recipient. */
export interface Email {
  /** The local part of its `Message-ID`, by which receivers recognize a repeated email. Absent: a new one each time. */
  readonly id?: string
  /** A bare address. */
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** A message that was not sent. `detail` is for operators and contains neither the message's text nor the recipient's address. */
export class MailError extends Data.TaggedError("MailError")<{
  /**
   * `not set up`: the service has no mail server. `refused`: the recipient's server rejects the address. `unreachable`: a later attempt
   * may succeed.
   */
  readonly reason: "not set up" | "refused" | "unreachable"
  readonly detail: string
}> {
  override get message() {
    return `an email was not sent: ${this.detail}`
  }
}

/** A server that takes longer counts as down, because the owner waits for the sign-in code. */
const CONNECT_MS = 5_000
const SILENCE_MS = 10_000

/** Sends mail by SMTP. A sandbox without a mail server writes messages to its log, so that sign-in can be tried. */
export class Mail extends Context.Service<
  Mail,
  {
    /**
     * Messages are only printed, and no money buys a real answer: so the code for signing in may be shown to the client that asks for
     * it.
     */
    readonly showsCodes?: true
    /** Returns when a server has accepted the message. */
    readonly send: (email: Email) => Effect.Effect<void, MailError>
  }
>()("tollgate/platform/Mail") {
  static readonly layer = Layer.effect(
    Mail,
    Effect.gen(function* () {
      const { allSimulated, mail, sandbox } = yield* Config
      if (mail !== undefined) return Mail.of({ send: yield* bySmtp(mail) })
      if (!sandbox) return Mail.of({ send: () => Effect.fail(notSetUp) })
      return Mail.of(allSimulated ? { showsCodes: true, send: byLog } : { send: byLog })
    })
  )
}

const notSetUp = new MailError({ reason: "not set up", detail: "SMTP_URL is not set" })

const byLog = ({ subject, text, to }: Email): Effect.Effect<void> =>
  Effect.logInfo(`email to ${to} (a sandbox does not send it): ${subject}\n${text}`)

interface SmtpFault {
  readonly code?: string
  readonly responseCode?: number
  /** The server's reply, with its code. */
  readonly response?: string
  readonly command?: string
}

/**
 * Whether a reply to the recipient's address is in fact about the sender: the gateway must log in first (503, or RFC 4954's 530), or
 * the server does not relay for it (RFC 3463's X.7.z; servers without these codes say it in words). Every recipient would get the same
 * reply.
 */
const isOfSender = ({ response = "", responseCode = 0 }: SmtpFault): boolean =>
  responseCode === 503 || responseCode === 530 || /^\d+[ -]5\.7\.|\brelay/i.test(response.replaceAll(/\S*@\S*/g, ""))

/** Any other 5yz reply (RFC 5321, 4.2.1) is about the recipient, such as an unknown mailbox (550) or a syntax error (501, 553). */
const isRefused = (fault: SmtpFault): boolean => {
  const { code, command = "", responseCode = 0 } = fault
  return code === "EENVELOPE" && command.startsWith("RCPT") && responseCode >= 500 && !isOfSender(fault)
}

const problemOf = (cause: unknown): MailError => {
  const fault = cause as SmtpFault
  const words = [fault.code, fault.command?.split(" ", 1)[0], fault.responseCode].filter((part) => part !== undefined)
  const reason = isRefused(fault) ? "refused" : "unreachable"
  return new MailError({ reason, detail: `the mail server failed: ${words.join(" ") || "no code"}` })
}

const bySmtp = Effect.fnUntraced(function* ({ from, url }: MailSettings) {
  // A node without a mail server does not load the client.
  const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
  const transport = createTransport({
    url: Redacted.value(url),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true
  })
  const domain = /@([^\s>@]+)>?\s*$/.exec(from)?.[1] ?? "localhost"
  return ({ id, subject, text, to }: Email): Effect.Effect<void, MailError> =>
    Effect.tryPromise({
      try: () =>
        transport.sendMail({
          // The recipient is an object because nodemailer parses a string as a list of addresses.
          from,
          to: { name: "", address: to },
          subject,
          text,
          ...(id === undefined ? {} : { messageId: `<${id}@${domain}>` })
        }),
      catch: problemOf
    }).pipe(Effect.asVoid)
})
