/** A gateway and the commands on its database, for the tests of exports. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { firstRequestIdAt } from "../../src/platform/Ids.ts"
import { post, startService } from "../support/Service.ts"
import { setUp } from "./commandLine.ts"

/** A gateway on the database of the commands, whose requests can be moved to an earlier day. */
export const exportScene = Effect.gen(function* () {
  const admin = yield* setUp
  const service = yield* startService({ DATABASE_URL: admin.url })
  const { account, inferenceKey } = yield* service.account(10)
  const ask = Effect.fnUntraced(function* (model = "gpt-4o-mini") {
    const body = { model, messages: [{ role: "user", content: "Hello!" }] }
    const answer = yield* post(`${service.api}/chat/completions`, inferenceKey, body)
    yield* Effect.promise(() => answer.text())
    assert.strictEqual(answer.status, 200)
    return answer.headers.get("x-request-id") ?? ""
  })
  /** Moves a request to an earlier arrival time, and returns its new id. */
  const moved = Effect.fnUntraced(function* (id: string, time: string) {
    const { sql } = service
    const there = firstRequestIdAt(Date.parse(time)).slice(0, 14) + id.slice(14)
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`ALTER TABLE transfer DISABLE TRIGGER transfer_append_only`
        yield* sql`UPDATE request SET id = ${there} WHERE id = ${id}`
        yield* sql`UPDATE transfer SET request_id = ${there} WHERE request_id = ${id}`
        yield* sql`ALTER TABLE transfer ENABLE TRIGGER transfer_append_only`
      })
    )
    return there
  })
  return { ...admin, service, account, ask, moved }
})
