/** Creates one resource of each kind that an account can have. */
import { Effect } from "effect"
import type { NewCustomer } from "../../src/billing/Customers.ts"
import { newResourceId } from "../../src/platform/Ids.ts"
import { bearer, callsOf, type Call, send, type Things } from "./Calls.ts"
import { json, type Service } from "./Service.ts"
import { eventually } from "./Eventually.ts"

const actor = { type: "operator", id: "test" } as const

/** Creates a top-up that needs an operator, and returns its id. */
export const attended = ({ sql }: Pick<Service, "sql">, accountId: string) =>
  Effect.suspend(() => {
    const id = newResourceId()
    return Effect.as(
      sql`INSERT INTO top_up (id, account_id, amount_cents, processor, return_url, session_id, ask_at, stopped, attention)
        VALUES (${id}, ${accountId}, 2500, 'simulated', 'http://127.0.0.1:1', ${`cs_${id}`}, now(), true, 'the amount differs')`,
      id
    )
  })

/** Creates the resources of an account, and returns their ids. Its webhooks go to `receiver`, which gets the event of a video. */
export const createResources = (
  service: Service,
  { account: { id: accountId }, inferenceKey }: NewCustomer,
  receiver: string
): Effect.Effect<Things, unknown> =>
  Effect.gen(function* () {
    const calls = callsOf()
    const call = (call: Call) => Effect.flatMap(send(service.api, call, bearer(inferenceKey)), json)
    const by = (operation: string) => call(calls.get(operation)!)
    const preset = `preset-${accountId.slice(-8)}`
    const sparePreset = `spare-${accountId.slice(-8)}`
    for (const slug of [preset, sparePreset]) yield* service.preset(accountId, slug, { model: "gpt-4o-mini" })
    const owner = yield* service.signedIn(accountId)
    const { data: topUp } = yield* Effect.flatMap(send(service.api, calls.get("console.top_ups.create")!, owner), json)
    const { request_id: request } = yield* by("chat.completions")
    const file = (yield* by("files.create")).id
    const { endpoint } = yield* service.webhooks.register({
      accountId,
      url: receiver,
      actor,
      events: ["video.completed", "video.failed"]
    })
    const spare = yield* service.webhooks.register({ accountId, url: receiver, actor, events: [] })
    yield* service.webhooks.publish({
      id: `evt_${accountId}`,
      accountId,
      type: "video.failed",
      data: {},
      createdAt: new Date()
    })
    const [spareAccount, suspendedAccount] = [yield* service.account(), yield* service.account()]
    yield* service.accounts.setState(suspendedAccount.account, { to: "suspended", reason: "test", actor })
    const page = { limit: 1, cursor: undefined }
    const delivery = Effect.map(service.webhooks.deliveries(accountId, endpoint.id, page), ({ rows }) => rows[0])
    return {
      plan: yield* service.plan(`silver-${accountId}`),
      sparePlan: yield* service.plan(`spare-${accountId}`),
      request,
      file,
      spareFile: (yield* by("files.create")).id,
      batch: (yield* call(callsOf({ file }).get("batches.create")!)).id,
      session: (yield* by("sessions.create")).id,
      video: (yield* by("videos.create")).id,
      webhook: endpoint.id,
      spareWebhook: spare.endpoint.id,
      delivery: (yield* eventually(delivery, (one) => one?.attempts === 1))!.id,
      preset,
      topUp: topUp.id,
      attendedTopUp: yield* attended(service, accountId),
      spareTopUp: yield* attended(service, accountId),
      checkout: topUp.checkout_url.split("/").at(-1),
      sparePreset,
      project: (yield* service.project(accountId, "project")).id,
      spareProject: (yield* service.project(accountId, "spare")).id,
      key: (yield* service.keys.create({ accountId, kind: "inference", name: "key", scopes: [], actor })).id,
      account: accountId,
      spareAccount: spareAccount.account.id,
      suspendedAccount: suspendedAccount.account.id,
      operatorsKey: (yield* service.keys.create({ accountId, kind: "inference", name: "left", scopes: [], actor })).id,
      spareKey: (yield* service.keys.create({ accountId, kind: "inference", name: "spare", scopes: [], actor })).id,
      ownerSession: yield* service.ownerSession(accountId),
      managementKey: (yield* service.keys.create({
        accountId,
        kind: "management",
        name: "spare",
        scopes: ["usage:read"],
        actor
      })).id
    }
  })
