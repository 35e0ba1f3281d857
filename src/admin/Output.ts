/** What a command says: its result on standard output, everything else on standard error. */
import { Cause, Console, Data, Effect, Layer, Logger, References } from "effect"
import { CliError, CliOutput, Flag, GlobalFlag } from "effect/cli"
import { EmailTaken } from "../account/Accounts.ts"
import { NotAvailable, ReferenceUsed } from "../billing/Customers.ts"
import { Failure } from "../domain/Failure.ts"
import { messageOf } from "../http/Failures.ts"
import { Config } from "../platform/Config.ts"
import { Unavailable } from "../platform/Sql.ts"
import { StartError } from "../platform/Variables.ts"

/** The same result for programs and for people. */
export interface Result {
  readonly json: object
  readonly text: string
}

/** A command that cannot do what it was asked, in one sentence. */
export class Refused extends Data.TaggedError("Refused")<{ readonly message: string }> {}

/** Whether results are JSON. */
export const json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Print one JSON object on standard output"),
    Flag.withDefault(false)
  )
})

export const print = (result: Result) =>
  Effect.flatMap(json, (asJson) => Console.log(asJson ? JSON.stringify(result.json) : result.text))

/** The log, as the settings want it, out of the way of results. */
export const logging = Layer.unwrap(
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

const complain = (sentence: string) => Console.error(`error: ${oneLine(sentence)}`)

/** Help that was asked for is a result; help for a half command goes where errors go. */
export const presenter = CliOutput.layerPresenter({
  present: (event) => {
    switch (event._tag) {
      case "InvalidInvocation":
        return complain(`${event.errors.map(({ message }) => message).join("; ")} (--help shows what there is)`)
      case "Help":
        if (event.reason === "Requested") return CliOutput.defaultPresenter.present(event)
        return Effect.flatMap(CliOutput.Formatter, (formatter) => Console.error(formatter.formatHelpDoc(event.helpDoc)))
      case "Version":
        return CliOutput.defaultPresenter.present(event)
    }
  }
})

const sentenceOf = (error: unknown): string => {
  if (error instanceof Failure) return messageOf(error.reason)
  if (error instanceof EmailTaken) return `There is an account with the email address ${error.email} already`
  if (error instanceof ReferenceUsed || error instanceof NotAvailable) return error.message
  if (error instanceof Unavailable) return `The ${error.store} cannot be reached (${String(error.cause)})`
  if (error instanceof StartError || error instanceof Refused || CliError.isCliError(error)) return error.message
  return `Something went wrong: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`
}

/** Runs a command to its exit code: what went wrong is said in one line. */
export const exitCode = <E, R>(command: Effect.Effect<void, E, R>): Effect.Effect<number, never, R> =>
  command.pipe(
    Effect.as(0),
    Effect.catchCause((cause) => {
      const error = Cause.squash(cause)
      // The presenter has said all there is to say.
      const said = CliError.isCliError(error) && error._tag === "ShowHelp"
      return Effect.as(said ? Effect.void : complain(sentenceOf(error)), 1)
    })
  )
