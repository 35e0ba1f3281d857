import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { credentialsOf } from "../../../schemas/Access.ts"
import { Api } from "../../../schemas/Api.ts"
import { startService } from "../../support/Service.ts"
import { client } from "../wire.ts"

const endpoints = Object.values(Api.groups).flatMap(
  (group) => Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>
)

describe("every operation", () => {
  it.live("refuses a request without a credential exactly if it declares one", () =>
    Effect.gen(function* () {
      const { origin } = yield* startService()
      const send = yield* client(origin)
      const refused: Array<string> = []
      const expected: Array<string> = []
      for (const endpoint of endpoints) {
        const name = `${endpoint.method} ${endpoint.path}`
        if (!credentialsOf(endpoint).includes("none")) expected.push(name)
        const { status } = yield* send({ method: endpoint.method, path: endpoint.path.replaceAll(/:\w+/g, "a") })
        if (status === 401) refused.push(name)
      }
      assert.deepStrictEqual(refused, expected)
      assert.isAbove(expected.length, 60)
    }).pipe(Effect.scoped)
  )
})
