import { Context, Data, Effect, Layer, Redacted } from "effect"
import { createTransport } from "nodemailer"
import { Config, type MailSettings } from "./Config.ts"

/** A letter to one person. */
export interface Letter {
  /** A bare address. */
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** A letter that was not sent. `detail` is for operators, and has neither its text nor its address. */
export class MailError extends Data.TaggedError("MailError")<{
  /** `not set up`: nobody delivers letters here. `refused`: the address takes none. `unreachable`: another time it may be sent. */
  readonly reason: "not set up" | "refused" | "unreachable"
  readonly detail: string
}> {
  override get message() {
    return `a letter was not sent: ${this.detail}`
  }
}

/** A server that takes longer is out of order; who signs in waits for it. */
const CONNECT_MS = 5_000
const SILENCE_MS = 10_000

/** Sends letters by SMTP. A sandbox without a server writes them into its log, so that it can be tried. */
export class Mail extends Context.Service<
  Mail,
  {
    /** Comes back when a server has taken the letter. */
    readonly send: (letter: Letter) => Effect.Effect<void, MailError>
  }
>()("tollgate/platform/Mail") {
  static readonly layer = Layer.effect(
    Mail,
    Effect.map(Config, ({ mail, sandbox }) => {
      if (mail !== undefined) return Mail.of({ send: bySmtp(mail) })
      return Mail.of({ send: sandbox ? byLog : () => Effect.fail(notSetUp) })
    })
  )
}

const notSetUp = new MailError({ reason: "not set up", detail: "SMTP_URL is not set" })

const byLog = ({ subject, text, to }: Letter): Effect.Effect<void> =>
  Effect.logInfo(`a letter to ${to}, which a sandbox does not send: ${subject}\n${text}`)

interface SmtpFault {
  readonly code?: string
  readonly responseCode?: number
  /** The reply, with its code. */
  readonly response?: string
  readonly command?: string
}

/**
 * Whether a reply to the recipient's address is about who sends to it: that they have to log in before (503, RFC 4954's 530), or that
 * the server does not send this for them (RFC 3463's X.7.z; servers without these say it in words). All addresses would get it.
 */
const isOfSender = ({ response = "", responseCode = 0 }: SmtpFault): boolean =>
  responseCode === 503 || responseCode === 530 || /^\d+[ -]5\.7\.|\brelay/i.test(response.replaceAll(/\S*@\S*/g, ""))

/** Any other reply of 5yz to it (RFC 5321, 4.2.1) stays what it is: no such mailbox (550), or no syntax (501, 553). */
const isRefused = (fault: SmtpFault): boolean => {
  const { code, command = "", responseCode = 0 } = fault
  return code === "EENVELOPE" && command.startsWith("RCPT") && responseCode >= 500 && !isOfSender(fault)
}

const problemOf = (cause: unknown): MailError => {
  const fault = cause as SmtpFault
  const said = [fault.code, fault.command?.split(" ", 1)[0], fault.responseCode].filter((part) => part !== undefined)
  const reason = isRefused(fault) ? "refused" : "unreachable"
  return new MailError({ reason, detail: `the mail server failed: ${said.join(" ") || "no code"}` })
}

const bySmtp = ({ from, url }: MailSettings) => {
  const transport = createTransport({
    url: Redacted.value(url),
    ...{ connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true }
  })
  return ({ subject, text, to }: Letter): Effect.Effect<void, MailError> =>
    Effect.tryPromise({
      // An object, because a text is taken for a list of addresses.
      try: () => transport.sendMail({ from, to: { name: "", address: to }, subject, text }),
      catch: problemOf
    }).pipe(Effect.asVoid)
}
