import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { allRows } from "../support/AllRows.ts"
import { json, post, startService } from "../support/Service.ts"

describe("the database", () => {
  it.live("contains no API key, and no content except the answers under an idempotency key", () =>
    Effect.gen(function* () {
      const service = yield* startService()
      const { inferenceKey, managementKey } = yield* service.account(10)
      const ask = (content: string, more: object, headers: Record<string, string>) =>
        Effect.flatMap(
          post(
            `${service.api}/chat/completions`,
            inferenceKey,
            { messages: [{ role: "user", content }], ...more },
            headers
          ),
          (response) => Effect.promise(() => response.text())
        )
      const echo = (word: string) => `text=${word}`
      yield* ask("PLANTED-PROMPT", { model: "gpt-4o-mini" }, { "x-svc-sandbox": echo("PLANTED-ANSWER") })
      yield* ask("x", { model: "gpt-4o-mini" }, { "x-svc-sandbox": echo("KEPT-ANSWER"), "idempotency-key": "kept" })
      const zero = { model: "claude-sonnet-4-5", routing: { data_policy: "zero_retention" } }
      for (const stream of [true, false]) {
        yield* ask(
          "ZERO-PROMPT",
          { ...zero, stream },
          {
            "x-svc-sandbox": echo("ZERO-ANSWER"),
            "idempotency-key": `zero-${stream}`
          }
        )
      }
      const text = yield* allRows(service.databaseUrl)
      assert.include(text, "KEPT-ANSWER")
      for (const secret of [inferenceKey, managementKey, inferenceKey.slice(11, 40), managementKey.slice(11, 40)]) {
        assert.notInclude(text, secret)
      }
      for (const content of ["PLANTED-PROMPT", "PLANTED-ANSWER", "ZERO-PROMPT", "ZERO-ANSWER"]) {
        assert.notInclude(text, content)
      }
    }).pipe(Effect.scoped)
  )

  it.live("contains no readable webhook secret", () =>
    Effect.gen(function* () {
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const { inferenceKey } = yield* service.account(1)
      const ask = (path: string, body: object) =>
        Effect.flatMap(post(`${service.api}/webhooks${path}`, inferenceKey, body), json)
      const made = yield* ask("", { url: "http://127.0.0.1:9/", events: ["video.completed"] })
      const rotated = yield* ask(`/${made.id}/rotate-secret`, {})
      yield* ask(`/${made.id}/test`, {})
      const text = yield* allRows(service.databaseUrl)
      assert.include(text, made.id)
      for (const { secret } of [made, rotated]) {
        const base64 = secret.slice("whsec_".length)
        assert.lengthOf(Buffer.from(base64, "base64"), 32)
        for (const form of [
          base64,
          Buffer.from(base64).toString("hex"),
          Buffer.from(base64, "base64").toString("hex")
        ]) {
          assert.notInclude(text, form)
        }
      }
    }).pipe(Effect.scoped)
  )
})
