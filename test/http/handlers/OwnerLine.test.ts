import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { AuditLog } from "../../../schemas/management/Audit.ts"
import { upstream } from "../../providers/upstream.ts"
import { bearer, send } from "../../support/Calls.ts"
import { json, startService } from "../../support/Service.ts"
import { createResources } from "../../support/Things.ts"

describe("changes of batches and files by an owner", () => {
  it.live("are recorded in the audit log with their outcome, and changes by keys are not", () =>
    Effect.gen(function* () {
      const receiver = yield* upstream((_, response) => response.writeHead(204).end())
      const service = yield* startService({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      const mine = yield* service.account(10)
      const things = yield* createResources(service, mine, receiver.origin)
      const owner = yield* service.signedIn(mine.account.id)
      const cancel = { method: "POST", path: `/batches/${things.batch}/cancel` }
      yield* send(service.api, cancel, bearer(mine.inferenceKey))
      yield* send(service.api, cancel, owner)
      yield* send(service.api, { method: "DELETE", path: `/files/${things.spareFile}` }, owner)
      yield* send(service.api, { method: "DELETE", path: `/files/${things.spareFile}` }, owner)
      const filter = "event_types[]=batch.cancelled&event_types[]=file.deleted"
      const listed = yield* send(service.api, { method: "GET", path: `/management/audit?${filter}` }, owner)
      const { data }: { readonly data: ReadonlyArray<AuditLog> } = yield* json(listed)
      assert.deepStrictEqual(
        data.map(({ actor, code, resource, type }) => [type, actor.type, resource.id, code]),
        [
          ["file.deleted", "owner", things.spareFile, "not_found"],
          ["file.deleted", "owner", things.spareFile, null],
          ["batch.cancelled", "owner", things.batch, null]
        ]
      )
    }).pipe(Effect.scoped)
  )
})
