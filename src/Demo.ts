import { Console, Effect, Option } from "effect"
import { HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import { Accounts } from "./account/Accounts.ts"
import { Customers } from "./billing/Customers.ts"
import { DEMO_EMAIL } from "./billing/Sandbox.ts"
import { NANO_PER_USD } from "./domain/Money.ts"
import { Config } from "./platform/config/Config.ts"
import { Presets } from "./presets/Presets.ts"

const DEMO_BALANCE = 25n * NANO_PER_USD

/** The demo preset: the model of the first request, with the instruction to answer in one sentence. */
const demoPreset = {
  slug: "brief",
  name: "Brief answers",
  description: "Answers in one sentence, for little money",
  config: { model: "gpt-4o-mini", instructions: "Answer in one short sentence.", max_tokens: 100 }
}

/** Returns the example request of the README and the first start as a `curl` command. */
export const curlLine = (origin: string, key: string): string =>
  [
    `curl -N ${origin}/api/v1/chat/completions`,
    `-H "Authorization: Bearer ${key}"`,
    `-H "Content-Type: application/json"`,
    `-d '{"model":"gpt-4o-mini","stream":true,"messages":[{"role":"user","content":"Hello!"}]}'`
  ].join(" ")

/** The origin at which this machine reaches a service that listens on this host. */
export const originAt = (host: string, port: number): string => {
  const literal = host.includes(":") ? `[${host}]` : host
  return `http://${["0.0.0.0", "[::]"].includes(literal) ? "127.0.0.1" : literal}:${port}`
}

/** The origin at which this machine reaches the running service. */
export const localOrigin = Effect.map(HttpServer.HttpServer, ({ address }) =>
  NetAddress.isInetAddress(address)
    ? originAt(NetAddress.formatUrlHost(address.address).replace(/^\[|\]$/g, ""), address.port)
    : String(address)
)

/** A request to try with the demo account, as text for a terminal. */
export const requestToTry = (origin: string, inferenceKey: string): string =>
  [
    "Try it:",
    "",
    `  ${curlLine(origin, inferenceKey)}`,
    "",
    `With "model":"@${demoPreset.slug}" the same request uses a preset of this account.`
  ].join("\n")

/**
 * Creates the demo account of an empty sandbox and prints its keys, which it can show only once. They are plain text in every log
 * format, because people copy them. Returns none when there is already an account or no sandbox.
 */
export const createDemoAccount = Effect.gen(function* () {
  const { sandbox } = yield* Config
  const accounts = yield* Accounts
  if (!sandbox || (yield* accounts.exist)) return Option.none()
  const customers = yield* Customers
  const actor = { type: "service", id: "first-start" } as const
  const opened = yield* customers.open(DEMO_EMAIL, DEMO_BALANCE, actor, "play")
  const presets = yield* Presets
  yield* presets.create({ accountId: opened.account.id, preset: demoPreset, actor })
  yield* Console.log(
    [
      "",
      `The gateway has created a demo account (${opened.account.email}) with $25.00 of simulated money. It shows these keys only now:`,
      "",
      `  inference key   ${opened.inferenceKey}`,
      `  management key  ${opened.managementKey}`,
      ""
    ].join("\n")
  )
  return Option.some(opened)
}).pipe(
  // Another node on this database has just created the account, and prints its keys.
  Effect.catchTag("EmailTaken", () => Effect.succeed(Option.none())),
  // Cannot happen: a new account is below every limit and has no other presets.
  Effect.catchTags({
    Failure: (failure) => Effect.die(failure),
    SlugTaken: (error) => Effect.die(error),
    PresetLimitReached: (error) => Effect.die(error)
  })
)

/** Creates the demo account of an empty sandbox, and prints its keys and a request to try. */
export const demoAccount = Effect.gen(function* () {
  const created = yield* createDemoAccount
  if (Option.isSome(created)) yield* Console.log(requestToTry(yield* localOrigin, created.value.inferenceKey))
  return created
})

/** Tells the operator of a service with real providers how to create the first account. */
const accountHint = [
  "",
  "There is no account yet. Create one, with the same settings as this service:",
  "",
  "  npm run admin -- account create --email you@example.com --balance-usd 25",
  "",
  "The command prints the account's keys."
].join("\n")

/** Creates the demo account of an empty sandbox. In any other service without an account, prints the command that creates one. */
export const firstAccount = Effect.gen(function* () {
  const { sandbox } = yield* Config
  if (sandbox) return yield* Effect.asVoid(demoAccount)
  const accounts = yield* Accounts
  if (!(yield* accounts.exist)) yield* Console.log(accountHint)
})
