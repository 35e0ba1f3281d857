import { assert, describe, expect, it } from "@effect/vitest"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { TestConsole } from "effect/testing"
import { join } from "node:path"
import { run as command } from "../src/admin/Commands.ts"
import { bundledOverlay } from "../src/catalogue/Overlay.ts"
import {
  adminPage,
  errorsPage,
  instrumentsIn,
  metricsPage,
  modelsPage,
  operationsPage,
  settingsPage
} from "./support/Reference.ts"
import { post, startService } from "./support/Service.ts"
import { root } from "./support/Sources.ts"
import { eventually } from "./support/Eventually.ts"

const file = (name: string) => join(root, "docs/reference", name)

const helpOf = (words: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* command([...words, "--help"])
    return (yield* TestConsole.logLines).join("\n")
  }).pipe(Effect.provide([Layer.fresh(TestConsole.layer), NodeServices.layer]))

/** Returns the subcommands that a command's help lists. */
const subcommandsIn = (help: string): ReadonlyArray<string> => {
  const [, list = ""] = help.split("SUBCOMMANDS\n")
  return list
    .split("\n\n")[0]!
    .split("\n")
    .flatMap((line) => /^ {2}([a-z-]+) /.exec(line)?.slice(1) ?? [])
}

const helpsBelow = (words: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<readonly [string, string]>> =>
  Effect.gen(function* () {
    const help = yield* Effect.orDie(helpOf(words))
    const below = yield* Effect.forEach(subcommandsIn(help), (word) => helpsBelow([...words, word]))
    return [[["admin", ...words].join(" "), help] as const, ...below.flat()]
  })

// `npm run published` writes these pages. The diff is then reviewed.
describe("the reference", () => {
  it("lists every setting", () => expect(settingsPage()).toMatchFileSnapshot(file("settings.md")))

  it("lists every error", () => expect(errorsPage()).toMatchFileSnapshot(file("errors.md")))

  it("lists every operation", () => expect(operationsPage()).toMatchFileSnapshot(file("operations.md")))

  it.effect("lists every model with its price", () =>
    Effect.gen(function* () {
      const page = modelsPage(yield* bundledOverlay)
      yield* Effect.promise(() => expect(page).toMatchFileSnapshot(file("models.md")))
    })
  )

  it.effect("shows the help of every admin command", () =>
    Effect.gen(function* () {
      const helps = yield* helpsBelow([])
      assert.isAbove(helps.length, 10)
      yield* Effect.promise(() => expect(adminPage(helps)).toMatchFileSnapshot(file("admin.md")))
    })
  )

  it.live("lists every metric that the gateway exports after a request", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey } = yield* service.account(10)
      const body = { model: "gpt-4o-mini", stream: true, messages: [{ role: "user", content: "Hello!" }] }
      const response = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
      yield* Effect.promise(() => response.text())
      const text = yield* eventually(
        Effect.promise(() => fetch(`${service.ops}/metrics`).then((answer) => answer.text())),
        // The gateway counts a request after it has written the last byte.
        (found) => found.includes("http_server_request_duration")
      )
      yield* Effect.promise(() => expect(metricsPage(instrumentsIn(text))).toMatchFileSnapshot(file("metrics.md")))
    }).pipe(Effect.scoped)
  )
})
