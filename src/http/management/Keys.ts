import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schemas/Api.ts"
import { Keys } from "../../account/Keys.ts"
import { Mutations } from "../../account/Mutations.ts"
import { failure } from "../../domain/Failure.ts"
import { asKey, makeMutate } from "./Answers.ts"

/** `/management/keys`: the inference keys of the account. */
export const layer = HttpApiBuilder.group(
  Api,
  "managementKeys",
  Effect.fnUntraced(function* (handlers) {
    const keys = yield* Keys
    const mutate = makeMutate(yield* Mutations)
    return handlers.handle("revokeKey", ({ params: { key_id: id }, request }) =>
      mutate(asKey, { request, type: "key.revoked", resource: { type: "key", id } }, ({ accountId, actor }) =>
        Effect.flatMap(keys.revoke(id, actor, accountId), (revoked) =>
          revoked
            ? Effect.succeed({ data: { id, object: "key", status: "revoked" } })
            : Effect.fail(failure({ _tag: "NotFound", what: "key", id }))
        )
      )
    )
  })
)
