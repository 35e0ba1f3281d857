import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { page } from "../support/Console.ts"
import { postbox } from "../support/Postbox.ts"
import { get, json as bodyOf, post, type Service, startService } from "../support/Service.ts"
import { setUp } from "./commandLine.ts"

const MODEL = "openai/gpt-5-mini"
const messages = [{ role: "user", content: "hello" }]

const chat = (service: Pick<Service, "api">, key: string, headers: Record<string, string> = {}) =>
  post(`${service.api}/chat/completions`, key, { model: MODEL, messages }, headers)

/** The paid requests that each node rejects for the account. */
const paid = (service: Pick<Service, "api">, key: string) => [
  chat(service, key),
  post(`${service.api}/messages`, key, { model: MODEL, messages, max_tokens: 10 }),
  post(`${service.api}/responses`, key, { model: MODEL, input: "hello" }),
  post(`${service.api}/embeddings`, key, { model: "openai/text-embedding-3-small", input: "hello" }),
  post(`${service.api}/images/generations`, key, { model: "openai/gpt-image-1", prompt: "a cat" })
]

/** Two nodes on one database, which have cached the account's key, and the command line. */
const stage = Effect.gen(function* () {
  const mail = yield* postbox()
  const { command, json, query, url } = yield* setUp
  const env = { ...mail.settings, SECRETS_KEY: "k".repeat(32), DATABASE_URL: url }
  const nodes = [yield* startService(env), yield* startService(env)] as const
  const customer = yield* nodes[0].account(5)
  for (const node of nodes) assert.strictEqual((yield* chat(node, customer.inferenceKey)).status, 200)
  const signIn = (node: Service) =>
    Effect.gen(function* () {
      const email = customer.account.email
      const { body } = yield* page(node.origin).ask("POST", "/sign-in", { email })
      const proof = { email, sign_in_id: body.sign_in_id, code: mail.codeFor(email) }
      return yield* page(node.origin).ask("POST", "/sign-in/verify", proof)
    })
  return { ...customer, command, json, query, nodes, signIn }
})

const codeOf = (response: Response) =>
  Effect.map(bodyOf(response), ({ error }) => [response.status, error.code ?? error.type, error.message])

describe("account suspend, resume and close", () => {
  it.live("stop every paid request, read and sign-in on every node at once, and let running requests settle", () =>
    Effect.gen(function* () {
      const { account, command, inferenceKey, json, managementKey, nodes, query, signIn } = yield* stage
      const session = yield* nodes[1].signedIn(account.id)
      const running = yield* Effect.forkChild(chat(nodes[0], inferenceKey, { "x-svc-sandbox": "latency_ms=2500" }))
      while ((yield* nodes[0].balance(account.id)).held === 0n) yield* Effect.sleep("10 millis")
      const early = yield* command(`account close ${account.id} --reason fraud`)
      assert.strictEqual(early.code, 1)
      assert.match(early.stderr.join(), /has 1 running requests that hold \$0\.\d+; suspend it/)

      const done = yield* json(`account suspend ${account.email} --reason chargeback`)
      assert.deepStrictEqual(done, {
        account_id: account.id,
        email: account.email,
        state: "suspended",
        reason: "chargeback"
      })
      for (const node of nodes) {
        for (const refused of yield* Effect.all(paid(node, inferenceKey))) {
          assert.deepInclude(yield* codeOf(refused), "This account is suspended: chargeback.", refused.url)
          assert.strictEqual(refused.status, 403, refused.url)
        }
        const expected = [403, "account_suspended", "This account is suspended: chargeback."]
        assert.deepStrictEqual(yield* codeOf(yield* chat(node, inferenceKey)), expected)
        assert.deepStrictEqual(yield* codeOf(yield* get(`${node.api}/management/keys`, managementKey)), expected)
        const owner = yield* Effect.promise(() => fetch(`${node.api}/management/keys`, { headers: session }))
        assert.deepStrictEqual(yield* codeOf(owner), expected)
        const { body, status } = yield* signIn(node)
        assert.deepStrictEqual([status, body.error.code, body.error.message], expected)
      }
      const finished = yield* Fiber.join(running)
      assert.strictEqual(finished.status, 200)
      const standing = yield* nodes[0].balance(account.id)
      assert.strictEqual(standing.held, 0n)
      assert.deepStrictEqual(yield* query("SELECT DISTINCT status FROM request"), [{ status: "succeeded" }])
      assert.strictEqual((yield* query("SELECT 1 FROM request")).length, 3)
      const twice = yield* command(`account suspend ${account.id} --reason again`)
      assert.deepStrictEqual(twice.stderr, [`error: The account ${account.id} is already suspended.`])
      const byAddress = yield* command(`account suspend ${account.email} --reason again`)
      assert.deepStrictEqual(byAddress.stderr, [`error: The account ${account.email} is already suspended.`])
      const [listed] = (yield* json("account list --state suspended")).data
      assert.deepInclude(listed, { id: account.id, state_reason: "chargeback" })

      yield* json(`account resume ${account.id} --reason won`)
      for (const node of nodes) {
        assert.strictEqual((yield* chat(node, inferenceKey)).status, 200)
        assert.strictEqual((yield* get(`${node.api}/management/keys`, managementKey)).status, 200)
        const owner = yield* Effect.promise(() => fetch(`${node.api}/management/keys`, { headers: session }))
        assert.strictEqual(owner.status, 200)
      }
      const { data } = yield* json(`audit --email ${account.email} --limit 2`)
      assert.deepStrictEqual(
        data.map(({ changes, type }: { changes: object; type: string }) => [type, changes]),
        [
          ["account.resumed", { state: { from: "suspended", to: "active" }, reason: "won" }],
          ["account.suspended", { state: { from: "active", to: "suspended" }, reason: "chargeback" }]
        ]
      )
      assert.isTrue((yield* json("ledger verify")).ok)
    }).pipe(Effect.scoped)
  )

  it.live("close an account for good: its keys and its sign-in stop on every node, and its receipts remain", () =>
    Effect.gen(function* () {
      const { account, command, inferenceKey, json, managementKey, nodes, signIn } = yield* stage
      yield* json(`account close ${account.id} --reason asked`)
      for (const node of nodes) {
        assert.deepInclude(yield* codeOf(yield* chat(node, inferenceKey)), "invalid_api_key")
        assert.deepInclude(yield* codeOf(yield* get(`${node.api}/management/keys`, managementKey)), "invalid_api_key")
        const { body, status } = yield* signIn(node)
        assert.deepStrictEqual(
          [status, body.error.code, body.error.message],
          [403, "account_closed", "This account is closed: asked."]
        )
      }
      assert.strictEqual((yield* json(`requests --account ${account.id}`)).data.length, 2)
      assert.deepInclude(yield* json(`account show ${account.id}`), { state: "closed", state_reason: "asked" })
      const again = yield* command(`account resume ${account.id} --reason mistake`)
      assert.match(again.stderr.join(), /a closed account stays closed/)
      assert.isTrue((yield* json("ledger verify")).ok)
    }).pipe(Effect.scoped)
  )
})
