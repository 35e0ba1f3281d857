/** Prints a command's result to standard output and everything else to standard error. */
import { Cause, Console, Data, Effect, Layer, Logger, References } from "effect"
import { CliError, CliOutput, Flag, GlobalFlag } from "effect/cli"
import { EmailTaken, StateRefused } from "../account/Accounts.ts"
import { ClosedAccount, NotAvailable, ReferenceUsed } from "../billing/Customers.ts"
import { RefundRefused } from "../billing/Refunds.ts"
import { DecisionRefused } from "../billing/TopUpDecisions.ts"
import { Failure } from "../domain/Failure.ts"
import { messageOf } from "../http/FailureRows.ts"
import { BackupRefused } from "../platform/database/Backup.ts"
import { BackupFileError } from "../platform/database/BackupFile.ts"
import { Config } from "../platform/config/Config.ts"
import { Unavailable } from "../platform/database/Sql.ts"
import { StartError } from "../platform/config/Variables.ts"

/** A result in two forms, for programs and for people. */
export interface Result {
  readonly json: object
  readonly text: string
}

/** A command cannot do what the operator asked. The message is one sentence. */
export class CommandRefused extends Data.TaggedError("CommandRefused")<{ readonly message: string }> {}

/** Whether results are printed as JSON. */
export const json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Print one JSON object on standard output"),
    Flag.withDefault(false)
  )
})

export const print = (result: Result) =>
  Effect.flatMap(json, (asJson) => Console.log(asJson ? JSON.stringify(result.json) : result.text))

/** Writes the log to standard error, in the format and level of the settings. */
export const logLayer = Layer.unwrap(
  Effect.map(Config, ({ log }) =>
    Layer.mergeAll(
      Logger.layer([
        log.format === "json" ? Logger.withConsoleError(Logger.formatJson) : Logger.consolePretty({ mode: "tty" })
      ]),
      Layer.succeed(References.LogToStderr, true),
      Layer.succeed(References.MinimumLogLevel, log.level)
    )
  )
)

const oneLine = (text: string) =>
  text
    .replace(/\s+Did you mean this\?\s+/, "; did you mean ")
    .replaceAll(/\s+/g, " ")
    .trim()

/** Ends a sentence with a full stop, unless it ends with a remark in brackets. */
const withStop = (text: string): string => (/[.)]$/.test(text) ? text : `${text}.`)

const complain = (sentence: string) => Console.error(`error: ${withStop(oneLine(sentence))}`)

/** Prints requested help to standard output, and help for an incomplete command to standard error. */
export const presenter = CliOutput.layerPresenter({
  present: (event) => {
    switch (event._tag) {
      case "InvalidInvocation":
        return complain(`${event.errors.map(({ message }) => message).join("; ")} (run with --help for usage)`)
      case "Help":
        if (event.reason === "Requested") return CliOutput.defaultPresenter.present(event)
        return Effect.flatMap(CliOutput.Formatter, (formatter) => Console.error(formatter.formatHelpDoc(event.helpDoc)))
      case "Version":
        return Console.log(`tollgate ${event.version}`)
    }
  }
})

const sentenceOf = (error: unknown): string => {
  if (error instanceof Failure) return messageOf(error.reason)
  if (error instanceof EmailTaken) return `An account with the email address ${error.email} already exists`
  if (error instanceof ReferenceUsed || error instanceof NotAvailable || error instanceof StateRefused)
    return error.message
  if (error instanceof DecisionRefused || error instanceof ClosedAccount) return error.message
  if (error instanceof Unavailable) return `The command cannot reach the ${error.store} (${String(error.cause)})`
  if (error instanceof RefundRefused || error instanceof BackupFileError || error instanceof BackupRefused)
    return error.message
  if (error instanceof StartError || error instanceof CommandRefused || CliError.isCliError(error)) return error.message
  return `Something went wrong: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`
}

/** Runs a command and returns its exit code. It reports a failure in one line. */
export const exitCode = <E, R>(command: Effect.Effect<void, E, R>): Effect.Effect<number, never, R> =>
  command.pipe(
    Effect.as(0),
    Effect.catchCause((cause) => {
      const error = Cause.squash(cause)
      // The presenter has already printed the error.
      const showsHelp = CliError.isCliError(error) && error._tag === "ShowHelp"
      return Effect.as(showsHelp ? Effect.void : complain(sentenceOf(error)), 1)
    })
  )
