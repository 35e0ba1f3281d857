/** Simulated money and real providers: a sandbox in which some providers have a key, and the database of a former sandbox. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema, Schedule } from "effect"
import { RequestReceipt } from "../../schemas/account/Requests.ts"
import { commandWith } from "../admin/commandLine.ts"
import { upstream } from "../providers/upstream.ts"
import { callsOf, send } from "../support/Calls.ts"
import { page } from "../support/Console.ts"
import { freshDatabase } from "../support/Database.ts"
import { postbox } from "../support/Postbox.ts"
import { receiptOf } from "../support/ReadReceipts.ts"
import { get, json, post, type Service, startService } from "../support/Service.ts"

/** A host that answers every request with a chat completion, and records the paths. */
const host = Effect.gen(function* () {
  const seen: Array<string> = []
  const { origin } = yield* upstream((request, response) => {
    seen.push(request.url ?? "")
    request.resume()
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(
        JSON.stringify({
          id: "1",
          object: "chat.completion",
          choices: [{ index: 0, message: { role: "assistant", content: "real" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
        })
      )
    })
  })
  return { origin, seen }
})

const ADAPTED = ["OPENAI", "ANTHROPIC", "GEMINI", "VOYAGE", "TAVILY", "FAL", "XAI"]

const keyed = (origin: string, names: ReadonlyArray<string> = ADAPTED): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => [
      [`${name}_API_KEY`, "planted"],
      [`${name}_BASE_URL`, origin]
    ])
  )

/** Starts a sandbox in which these providers are real. */
const mixed = (names?: ReadonlyArray<string>, more: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const { origin, seen } = yield* host
    return { seen, service: yield* startService({ ...keyed(origin, names), ...more }) }
  })

const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }], max_tokens: 20 }
const only = (...providers: ReadonlyArray<string>) => ({ routing: { providers: { only: providers } } })

const chat = (service: Service, key: string, more: object = {}) =>
  post(`${service.api}/chat/completions`, key, { ...hello, ...more })

const refusal = (response: Response) =>
  Effect.map(json(response), (body) => {
    assert.strictEqual(response.status, 402, JSON.stringify(body))
    assert.deepInclude(body, { limit_source: "balance" })
    assert.match(body.error.message, /simulated money cannot pay a real provider.*admin -- topup/)
    return body.error
  })

/** Reads the receipt of a request, and checks it with its schema. */
const decodedReceipt = (service: Service, key: string, id: string) =>
  Effect.map(receiptOf(service, key, id), (body) =>
    Schema.decodeUnknownSync(RequestReceipt)(body, { onExcessProperty: "error" })
  )

/** The operations that may call a provider. */
const paid = [
  "chat.completions",
  "presets.chat.completions",
  "responses",
  "messages",
  "chat",
  "batch",
  "embeddings",
  "rerank",
  "audio.speech",
  "search",
  "images.generations",
  "images",
  "videos.create",
  "video"
]

const batchFile = () => {
  const form = new FormData()
  const line = { custom_id: "a", method: "POST", url: "/v1/chat/completions", body: hello }
  form.append("purpose", "batch")
  form.append("file", new Blob([JSON.stringify(line)]), "input.jsonl")
  return form
}

describe("simulated money in a sandbox with real providers", () => {
  it.live("gets 402 for every operation that may reach a real provider, and no real provider is called", () =>
    Effect.gen(function* () {
      const { seen, service } = yield* mixed()
      const { account, inferenceKey } = yield* service.account(25, "play")
      yield* service.preset(account.id, "hello", { model: "gpt-4o-mini" })
      const calls = callsOf()
      for (const name of paid) {
        const response = yield* send(service.api, calls.get(name)!, { authorization: `Bearer ${inferenceKey}` })
        const { code, message } = yield* refusal(response)
        assert.deepStrictEqual([code, message.includes("$25.00 is simulated")], ["insufficient_credits", true], name)
      }
      const streamed = yield* chat(service, inferenceKey, { stream: true })
      yield* refusal(streamed)
      assert.deepStrictEqual(seen, [])
      assert.strictEqual((yield* service.balance(account.id)).posted, 25_000_000_000n)
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("pays for no line of a background batch that may reach a real provider", () =>
    Effect.gen(function* () {
      const { seen, service } = yield* mixed()
      const { inferenceKey } = yield* service.account(25, "play")
      const headers = { authorization: `Bearer ${inferenceKey}` }
      const file = yield* Effect.flatMap(
        send(service.api, { method: "POST", path: "/files", form: batchFile }, headers),
        json
      )
      const asked = { endpoint: "/v1/chat/completions", completion_window: "24h", input_file_id: file.id }
      const { id } = yield* Effect.flatMap(post(`${service.api}/batches`, inferenceKey, asked), json)
      const ended = yield* Effect.repeat(Effect.flatMap(get(`${service.api}/batches/${id}`, inferenceKey), json), {
        until: ({ status }) => status === "completed" || status === "failed",
        schedule: Schedule.spaced("200 millis")
      })
      assert.deepInclude(ended.request_counts, { completed: 0, failed: 1 })
      const errors = yield* get(`${service.api}/files/${ended.error_file_id}/content`, inferenceKey)
      assert.include(yield* Effect.promise(() => errors.text()), "simulated money cannot pay a real provider")
      assert.deepStrictEqual(seen, [])
    }).pipe(Effect.scoped)
  )

  it.live("pays for simulated providers and real money for real ones, as receipts and balance show", () =>
    Effect.gen(function* () {
      const { seen, service } = yield* mixed(["OPENAI"])
      const { account, inferenceKey, managementKey } = yield* service.account(25, "play")
      const answer = yield* Effect.flatMap(chat(service, inferenceKey, only("azure")), json)
      assert.strictEqual((yield* decodedReceipt(service, inferenceKey, answer.request_id)).paid_with, "simulated")
      // A request that may fall back to a real provider is refused, whichever provider comes first.
      yield* refusal(
        yield* chat(service, inferenceKey, { routing: { providers: { only: ["azure", "openai"], order: ["azure"] } } })
      )
      assert.deepStrictEqual(seen, [])
      const estimate = (more: object) =>
        Effect.map(
          Effect.flatMap(post(`${service.api}/estimate`, inferenceKey, { ...hello, ...more }), json),
          ({ affordable }) => affordable
        )
      assert.deepStrictEqual([yield* estimate(only("azure")), yield* estimate({})], [true, false])
      yield* service.customers.topUp(account, 1_000_000_000n)
      assert.isTrue(yield* estimate({}))
      const real = yield* Effect.flatMap(chat(service, inferenceKey, only("openai")), json)
      assert.deepStrictEqual([real.choices[0].message.content, seen], ["real", ["/chat/completions"]])
      const receipt = yield* decodedReceipt(service, inferenceKey, real.request_id)
      assert.deepStrictEqual([receipt.paid_with, receipt.provider], ["real", "openai"])
      const { data } = yield* Effect.flatMap(get(`${service.api}/management/balance`, managementKey), json)
      assert.closeTo(data.simulated_usd, 25 - answer.cost_usd, 1e-9)
      assert.closeTo(data.balance_usd, 26 - answer.cost_usd - real.cost_usd, 1e-9)
      const key = yield* Effect.flatMap(get(`${service.api}/key`, inferenceKey), json)
      assert.strictEqual(key.balance_usd, data.balance_usd)
      const booked =
        yield* service.sql`SELECT credit, count(*) AS n FROM transfer WHERE kind = 'settle' GROUP BY credit ORDER BY credit`
      assert.deepStrictEqual(booked, [
        { credit: "house:play", n: 1n },
        { credit: "house:revenue", n: 1n }
      ])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("pays for no real classifier of svc/auto", () =>
    Effect.gen(function* () {
      const { seen, service } = yield* mixed(["OPENAI"], { AUTO_CLASSIFIER_MODEL: "gpt-4.1-nano" })
      const unclear = {
        model: "svc/auto",
        messages: [{ role: "user", content: "The meeting is at noon in the blue room" }],
        router: { allowed_models: ["anthropic/*", "google/*"] }
      }
      const ask = (key: string) => Effect.flatMap(post(`${service.api}/chat/completions`, key, unclear), json)
      const { inferenceKey } = yield* service.account(25, "play")
      assert.strictEqual((yield* ask(inferenceKey)).routing.router.classified_by, "regex")
      assert.deepStrictEqual(seen, [])
      yield* ask((yield* service.account(25)).inferenceKey)
      assert.deepStrictEqual(seen, ["/chat/completions"])
    }).pipe(Effect.scoped)
  )

  it.live("is what a simulated top-up credits, and gets 402 at a real provider", () =>
    Effect.gen(function* () {
      const mail = yield* postbox()
      const { origin, seen } = yield* host

      const service = yield* startService({ ...mail.settings, ...keyed(origin), SECRETS_KEY: "k".repeat(32) })
      const owner = page(service.origin)
      const { body } = yield* owner.signIn(mail, "ann@example.com")
      const { body: topUp } = yield* owner.ask("POST", "/top-ups", { amount_usd: 10 })
      yield* owner.ask("POST", `/top-ups/${topUp.data.id}/simulate`)
      const balance = yield* service.balance(body.account.id)
      assert.deepStrictEqual(balance, {
        posted: 10_000_000_000n,
        held: 0n,
        play: { posted: 10_000_000_000n, held: 0n }
      })
      const { key } = yield* service.keys.create({
        accountId: body.account.id,
        kind: "inference",
        name: "own",
        scopes: [],
        actor: { type: "owner", id: "test" }
      })
      yield* refusal(yield* chat(service, key))
      assert.deepStrictEqual(seen, [])
      assert.deepStrictEqual(yield* service.faults, [])
    }).pipe(Effect.scoped)
  )
})

describe("the database of a former sandbox", () => {
  it.live(
    "stops the start with a provider's key until the operator sets SANDBOX=on or clears the simulated money",
    () =>
      Effect.gen(function* () {
        const { origin, seen } = yield* host
        const DATABASE_URL = yield* freshDatabase("former")
        const settings = { DATABASE_URL, ...keyed(origin, ["OPENAI"]) }
        const { inferenceKey, richKey } = yield* Effect.scoped(
          Effect.gen(function* () {
            const sandbox = yield* startService({ DATABASE_URL })
            const { account, inferenceKey } = yield* sandbox.account(25, "play")
            assert.strictEqual((yield* chat(sandbox, inferenceKey)).status, 200)
            yield* post(`${sandbox.api}/videos`, inferenceKey, {
              model: "veo-3",
              prompt: "a kite",
              duration: 4,
              aspect_ratio: "16:9"
            })
            const rich = yield* sandbox.account(2)
            yield* sandbox.customers.topUp(account, 3_000_000_000n)
            return { inferenceKey, richKey: rich.inferenceKey }
          })
        )
        for (const mode of ["auto", "off"]) {
          const exit = yield* Effect.exit(Effect.scoped(startService({ ...settings, SANDBOX: mode })))
          const said = Exit.isFailure(exit) ? String(exit.cause) : "the gateway started"
          for (const part of ["was a sandbox's", "(openai)", "SANDBOX=on", "npm run admin -- sandbox clear"]) {
            assert.include(said, part)
          }
        }
        yield* Effect.scoped(
          Effect.gen(function* () {
            const kept = yield* startService({ ...settings, SANDBOX: "on" })
            assert.strictEqual((yield* chat(kept, inferenceKey, only("azure"))).status, 200)
          })
        )
        const { code, stdout } = yield* commandWith({ DATABASE_URL }, "sandbox clear --yes --json")
        const cleared = JSON.parse(stdout.join(""))
        assert.deepStrictEqual([code, cleared.accounts, cleared.left_usd, cleared.keys_revoked], [0, 1, 0, 0])
        assert.isAbove(cleared.simulated_usd, 20)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const real = yield* startService({ ...settings, SANDBOX: "off" })
            assert.strictEqual((yield* chat(real, richKey)).status, 200)
            assert.strictEqual((yield* chat(real, inferenceKey)).status, 200)
            assert.deepStrictEqual(seen.length, 2)
            const { posted, play } = (yield* real.ledger.balance(
              (yield* real.sql<{ id: string }>`
            SELECT account_id AS id FROM play_balance`)[0]!.id
            ))!
            assert.isBelow(Number(posted), 3_000_000_000)
            assert.deepStrictEqual(play, { posted: 0n, held: 0n })
            assert.deepStrictEqual(yield* real.faults, [])
          })
        )
      })
  )
})
