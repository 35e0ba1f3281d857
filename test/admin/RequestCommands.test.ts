import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { post, startService } from "../support/Service.ts"
import { setUp } from "./commandLine.ts"

const MODEL = "openai/gpt-5-mini"

const chat = (
  service: { readonly api: string },
  key: string,
  body: object = {},
  headers: Record<string, string> = {}
) =>
  post(
    `${service.api}/chat/completions`,
    key,
    { model: MODEL, messages: [{ role: "user", content: "hello" }], ...body },
    headers
  )

const idOf = (response: Response) => response.headers.get("x-request-id") ?? ""

describe("requests", () => {
  it.live("lists an account's requests, newest first, by status, model and time, page by page", () =>
    Effect.gen(function* () {
      const { command, json, query, url } = yield* setUp
      const service = yield* startService({ DATABASE_URL: url })
      const [{ account, inferenceKey }, other] = [yield* service.account(5), yield* service.account(5)]
      yield* chat(service, other.inferenceKey)
      const ids: Array<string> = []
      for (const model of [MODEL, "openai/gpt-5", MODEL]) {
        const answer = yield* chat(service, inferenceKey, { model })
        assert.strictEqual(answer.status, 200)
        ids.unshift(idOf(answer))
      }
      const found = (line: string) =>
        Effect.map(json(`requests --account ${account.email} ${line}`), ({ data }) =>
          data.map(({ id }: { id: string }) => id)
        )
      assert.deepStrictEqual(yield* found(""), ids)
      assert.deepStrictEqual(yield* found("--model openai/gpt-5"), [ids[1]])
      assert.deepStrictEqual(yield* found("--status failed"), [])
      assert.deepStrictEqual(yield* found("--since 1h"), ids)
      yield* query(`UPDATE request SET created_at = now() - interval '2 hours' WHERE id = '${ids[2]}'`)
      assert.deepStrictEqual(yield* found("--since 1h --status succeeded"), [ids[0], ids[1]])
      assert.deepStrictEqual(yield* found("--since 2000-01-01"), ids)
      const page = yield* json(`requests --account ${account.id} --limit 2`)
      assert.strictEqual(page.next, ids[1])
      assert.deepStrictEqual(yield* found(`--limit 2 --after ${page.next}`), [ids[2]])
      const lines = (yield* command(`requests --account ${account.id} --limit 1`)).stdout.join("\n").split("\n")
      assert.match(lines[0]!, /^ID +CREATED +STATUS +OPERATION +MODEL +PROVIDER +HELD +COST$/)
      assert.match(lines[1]!, new RegExp(`^${ids[0]}  .*succeeded.*\\$0\\.\\d+$`))
      const wrong = yield* command(`requests --account ${account.id} --since yesterday`)
      assert.strictEqual(wrong.code, 1)
      assert.match(wrong.stderr.join(), /2026-01-31/)
    }).pipe(Effect.scoped)
  )
})

describe("request show", () => {
  it.live("explains the hold, the attempts, prices times tokens, the settlement and its transfer", () =>
    Effect.gen(function* () {
      const { command, json, query, url } = yield* setUp
      const service = yield* startService({ DATABASE_URL: url })
      const { account, inferenceKey } = yield* service.account(5)
      const id = idOf(yield* chat(service, inferenceKey, {}, { "idempotency-key": "once" }))
      const [row] = yield* query<{ settled: bigint }>(`SELECT settled FROM request WHERE id = '${id}'`)
      const shown = yield* json(`request show ${id}`)
      assert.deepInclude(shown, { id, account_id: account.id, email: account.email, status: "succeeded" })
      assert.strictEqual(shown.settled_usd, Number(row!.settled) / 1e9)
      assert.strictEqual(shown.transfers.length, 1)
      assert.deepInclude(shown.transfers[0], { kind: "settle", amount_usd: -shown.settled_usd, reference: null })
      const text = (yield* command(`request show ${id}`)).stdout.join("\n")
      for (const part of [
        new RegExp(`^Request +${id} of ${account.email} \\(${account.id}\\)$`, "m"),
        /^Hold +\$0\.\d+, committed in \d+ ms$/m,
        /^Attempts +1\. \S+: served, started at \d+ ms, took \d+ ms$/m,
        /\d+ output tokens x \$2 per million = \$0\.0\d*$/m,
        /^Settled +\$0\.\d+ at \d{4}-\S+, usage reported$/m,
        /^Transfers +\d{4}-\S+ settle -\$0\.\d+$/m
      ])
        assert.match(text, part)
      const sum = [...text.matchAll(/ per million = \$(\d\.\d+)$/gm)].reduce((all, [, usd]) => all + Number(usd), 0)
      assert.approximately(sum, shown.settled_usd, 3e-9)
      const again = idOf(yield* chat(service, inferenceKey, {}, { "idempotency-key": "once" }))
      const replay = yield* json(`request show ${again}`)
      assert.deepStrictEqual([replay.id, replay.replayed_from], [id, id])
      const missing = yield* command(`request show req_${"0".repeat(26)}`)
      assert.deepStrictEqual(missing.stderr, [`error: There is no request req_${"0".repeat(26)}.`])
    }).pipe(Effect.scoped)
  )
})
