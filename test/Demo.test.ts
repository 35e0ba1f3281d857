import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Layer, Option } from "effect"
import { createServer } from "node:http"
import { Accounts } from "../src/account/Accounts.ts"
import { Audit } from "../src/account/Audit.ts"
import { Keys } from "../src/account/Keys.ts"
import { Customers } from "../src/billing/Customers.ts"
import { createDemoAccount, curlLine, demoAccount, localOrigin, originAt } from "../src/Demo.ts"
import { Ledger } from "../src/ledger/Ledger.ts"
import { Config } from "../src/platform/config/Config.ts"
import { Presets } from "../src/presets/Presets.ts"
import { layer as database } from "./support/Database.ts"

const accounts = Layer.mergeAll(Accounts.layer, Keys.layer).pipe(Layer.provideMerge(Audit.layer))

/** A listening server and an empty database, with these settings. */
const demo = (settings: Record<string, string>) =>
  Layer.mergeAll(
    Layer.mergeAll(Customers.layer, Presets.layer).pipe(
      Layer.provideMerge(Ledger.layer),
      Layer.provideMerge(accounts),
      Layer.provideMerge(database)
    ),
    NodeHttpServer.layer(() => createServer(), { port: 0, host: settings["HOST"] ?? "0.0.0.0" }),
    Config.layerFrom(settings)
  )

/** Runs an effect. Returns its result and its output. */
const shownBy = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const captured: Console.Console = Object.assign(Object.create(globalThis.console), {
      log: (line: string) => void lines.push(line)
    })
    const made = yield* Effect.provideService(effect, Console.Console, captured)
    return { made, text: lines.join("\n") }
  })

const shown = shownBy(demoAccount)

describe("the demo account", () => {
  it.live("is created once in an empty sandbox, and printed with its keys and a request to try", () =>
    Effect.gen(function* () {
      const { made, text } = yield* shown
      const { account, inferenceKey, managementKey } = Option.getOrThrow(made)
      const ledger = yield* Ledger
      assert.deepStrictEqual(yield* ledger.balance(account.id), {
        posted: 25_000_000_000n,
        held: 0n,
        play: { posted: 25_000_000_000n, held: 0n }
      })
      const origin = yield* localOrigin
      assert.match(origin, /^http:\/\/127\.0\.0\.1:\d+$/)
      for (const part of [inferenceKey, managementKey, curlLine(origin, inferenceKey)]) assert.include(text, part)
      assert.deepStrictEqual(yield* shown, { made: Option.none(), text: "" })
    }).pipe(Effect.provide(demo({ SANDBOX: "on" })))
  )

  it.live("has the preset that the output names", () =>
    Effect.gen(function* () {
      const { made, text } = yield* shown
      const [, slug = ""] = /"model":"@([^"]+)"/.exec(text) ?? []
      const { config } = yield* (yield* Presets).resolve(Option.getOrThrow(made).account.id, slug)
      assert.include(curlLine("", ""), `"model":"${config.model}"`)
    }).pipe(Effect.provide(demo({ SANDBOX: "on" })))
  )

  it.live("can be created without a request to try, for a service that does not run yet", () =>
    Effect.gen(function* () {
      const { made, text } = yield* shownBy(createDemoAccount)
      assert.include(text, Option.getOrThrow(made).inferenceKey)
      assert.notInclude(text, "curl")
    }).pipe(Effect.provide(demo({ SANDBOX: "on" })))
  )

  it.live("is not created outside the sandbox", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* shown, { made: Option.none(), text: "" })
      assert.isFalse(yield* (yield* Accounts).exist)
    }).pipe(Effect.provide(demo({ SANDBOX: "off", HOST: "127.0.0.1" })))
  )

  it.live("is created by only one of two nodes that start at the same time", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const unaware = Effect.provideService(shown, Accounts, { ...accounts, exist: Effect.succeed(false) })
      assert.isTrue(Option.isSome((yield* unaware).made))
      assert.deepStrictEqual(yield* unaware, { made: Option.none(), text: "" })
    }).pipe(Effect.provide(demo({ SANDBOX: "on" })))
  )
})

describe("the origin for clients on this machine", () => {
  it("is loopback for a host that means all addresses, and has IPv6 addresses in brackets", () => {
    const origins = ["0.0.0.0", "::", "::1", "gate.local"].map((host) => originAt(host, 80))
    assert.deepStrictEqual(origins, [
      "http://127.0.0.1:80",
      "http://127.0.0.1:80",
      "http://[::1]:80",
      "http://gate.local:80"
    ])
  })
})
