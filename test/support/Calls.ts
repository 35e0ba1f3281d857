/** One valid call of each operation of the contract, as data. A call names things of an account, and has no credential. */
import { Effect } from "effect"

/** A request below the base URL of the API. */
export interface Call {
  readonly method: string
  readonly path: string
  /** The body, sent as JSON. */
  readonly body?: object
  readonly form?: () => FormData
  readonly headers?: Readonly<Record<string, string>>
}

const nothing = "0".repeat(24)

/** The ids that calls name by default. No account has a thing with such an id. */
export const noThings = {
  request: `req_${"0".repeat(26)}`,
  video: nothing,
  webhook: nothing,
  spareWebhook: nothing,
  delivery: nothing,
  batch: nothing,
  session: nothing,
  file: nothing,
  spareFile: nothing,
  key: nothing,
  topUp: nothing,
  checkout: `cs_simulated_${"0".repeat(32)}`,
  spareKey: nothing,
  operatorsKey: nothing,
  managementKey: nothing,
  ownerSession: nothing,
  project: nothing,
  spareProject: nothing,
  account: nothing,
  spareAccount: nothing,
  suspendedAccount: nothing,
  attendedTopUp: nothing,
  spareTopUp: nothing,
  plan: nothing,
  sparePlan: nothing,
  preset: "hello",
  sparePreset: "spare"
}

/** The ids of one thing of each kind. Calls revoke, archive or delete the `spare` ones. */
export type Things = typeof noThings

const hello = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] }
const chatConfig = { model: "gpt-4o-mini" }
const asked = { model: "gpt-4o-mini", input: "Hello!" }
const clip = { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9" }
const image = { model: "flux-dev", prompt: "a kite", size: "64x64" }
const batchOf = { endpoint: "/v1/chat/completions", completion_window: "24h" }

/** The code of a sign-in that was never requested. */
const unrequested = { sign_in_id: "A".repeat(22), code: "000000" }

const hook = { url: "http://127.0.0.1:9/", events: ["video.completed"] }

/** A file with one request that fails without being charged. */
const batchFile = (): FormData => {
  const line = { custom_id: "a", method: "POST", url: batchOf.endpoint, body: { ...hello, temperature: 9 } }
  const form = new FormData()
  form.append("purpose", "batch")
  form.append("file", new Blob([JSON.stringify(line)]), "input.jsonl")
  return form
}

const read = (path: string): Call => ({ method: "GET", path })
const write = (path: string, body: object = {}): Call => ({ method: "POST", path, body })
const change = (path: string, body: object): Call => ({ method: "PATCH", path, body })
const remove = (path: string): Call => ({ method: "DELETE", path })

/** An operator's decision about a top-up, under an idempotency key. */
const decide = (topUp: string, action: "settle" | "dismiss"): Call => ({
  ...write(`/operator/top-ups/${topUp}/${action}`, { reason: "checked" }),
  headers: { "idempotency-key": `${action}-${topUp}` }
})

/** The calls by the ids of their operations, in the order of the contract. Absent things have the ids of `noThings`. */
export const callsOf = (things: Partial<Things> = {}): ReadonlyMap<string, Call> => {
  const { batch, checkout, delivery, file, key, preset, project, request, session, ...others } = {
    ...noThings,
    ...things
  }
  const { account, attendedTopUp, operatorsKey, plan, spareAccount, sparePlan, spareTopUp, suspendedAccount } = others
  const {
    managementKey,
    ownerSession,
    spareFile,
    spareKey,
    sparePreset,
    spareProject,
    spareWebhook,
    topUp,
    video,
    webhook
  } = others
  return new Map([
    ["chat.completions", write("/chat/completions", hello)],
    ["presets.chat.completions", write(`/presets/${preset}/chat/completions`, { messages: hello.messages })],
    ["estimate", write("/estimate", hello)],
    ["responses", write("/responses", asked)],
    ["responses.input_tokens", write("/responses/input_tokens", asked)],
    ["embeddings", write("/embeddings", { model: "text-embedding-3-small", input: ["a cat", "a dog"] })],
    ["rerank", write("/rerank", { model: "rerank-2.5", query: "cats", documents: ["about dogs", "about cats"] })],
    ["audio.speech", write("/audio/speech", { model: "tts-1", input: "Hello!", voice: "alloy" })],
    ["images.generations", write("/images/generations", image)],
    ["search", write("/search", { query: "tea" })],
    ["videos.create", write("/videos", clip)],
    ["videos.list", read("/videos")],
    ["videos.get", read(`/videos/${video}`)],
    ["videos.content", read(`/videos/${video}/content`)],
    ["batch", write("/batch", { requests: [{ body: hello }] })],
    ["batches.create", write("/batches", { ...batchOf, input_file_id: file })],
    ["batches.list", read("/batches")],
    ["batches.get", read(`/batches/${batch}`)],
    ["batches.cancel", write(`/batches/${batch}/cancel`)],
    ["files.create", { method: "POST", path: "/files", form: batchFile }],
    ["files.list", read("/files")],
    ["files.get", read(`/files/${file}`)],
    ["files.content", read(`/files/${file}/content`)],
    ["files.delete", remove(`/files/${spareFile}`)],
    ["requests.list", read("/requests")],
    ["requests.get", read(`/requests/${request}`)],
    ["usage", read("/usage?period=7d")],
    ["key", read("/key")],
    ["credits", read("/credits")],
    ["generation", read(`/generation?id=${request}`)],
    ["webhooks.create", write("/webhooks", hook)],
    ["webhooks.list", read("/webhooks")],
    ["webhooks.get", read(`/webhooks/${webhook}`)],
    ["webhooks.update", change(`/webhooks/${webhook}`, { status: "enabled" })],
    ["webhooks.deliveries", read(`/webhooks/${webhook}/deliveries`)],
    ["webhooks.redeliver", write(`/webhooks/${webhook}/deliveries/${delivery}/redeliver`)],
    ["webhooks.rotate_secret", write(`/webhooks/${webhook}/rotate-secret`)],
    ["webhooks.test", write(`/webhooks/${webhook}/test`)],
    ["webhooks.delete", remove(`/webhooks/${spareWebhook}`)],
    ["models.list", read("/models")],
    ["models.get", read("/models/gpt-4o-mini")],
    ["management.keys.list", read("/management/keys")],
    ["management.keys.create", write("/management/keys", { name: "another" })],
    ["management.keys.get", read(`/management/keys/${key}`)],
    ["management.keys.update", change(`/management/keys/${key}`, { name: "the other" })],
    ["management.keys.rotate", write(`/management/keys/${key}/rotate`)],
    ["management.keys.revoke", remove(`/management/keys/${spareKey}`)],
    ["management.projects.list", read("/management/projects")],
    ["management.projects.create", write("/management/projects", { name: "made" })],
    ["management.projects.get", read(`/management/projects/${project}`)],
    ["management.projects.update", change(`/management/projects/${project}`, { name: "changed" })],
    ["management.projects.archive", write(`/management/projects/${spareProject}/archive`)],
    ["management.presets.list", read("/management/presets")],
    ["management.presets.create", write("/management/presets", { slug: "made", name: "made", config: chatConfig })],
    ["management.presets.get", read(`/management/presets/${preset}`)],
    ["management.presets.update", change(`/management/presets/${preset}`, { name: "changed" })],
    ["management.presets.delete", remove(`/management/presets/${sparePreset}`)],
    ["management.presets.versions", read(`/management/presets/${preset}/versions`)],
    ["management.presets.activate", write(`/management/presets/${preset}/versions/1/activate`)],
    ["management.webhooks.list", read("/management/webhooks")],
    ["management.webhooks.create", write("/management/webhooks", hook)],
    ["management.webhooks.get", read(`/management/webhooks/${webhook}`)],
    ["management.webhooks.update", change(`/management/webhooks/${webhook}`, { status: "enabled" })],
    ["management.webhooks.test", write(`/management/webhooks/${webhook}/test`)],
    ["management.webhooks.rotate_secret", write(`/management/webhooks/${webhook}/rotate-secret`)],
    ["management.webhooks.deliveries", read(`/management/webhooks/${webhook}/deliveries`)],
    ["management.webhooks.redeliver", write(`/management/webhooks/${webhook}/deliveries/${delivery}/redeliver`)],
    ["management.webhooks.delete", remove(`/management/webhooks/${webhook}`)],
    ["management.audit.list", read("/management/audit")],
    ["management.usage", read("/management/usage?period=7d&group_by=key")],
    ["management.usage.series", read("/management/usage/series?period=7d&group_by=model")],
    ["management.balance", read("/management/balance")],
    ["management.transactions", read("/management/transactions")],
    ["console.sign_in.create", write("/console/sign-in", { email: "somebody@example.com" })],
    ["console.sign_in.verify", write("/console/sign-in/verify", { email: "another@example.com", ...unrequested })],
    ["console.session.get", read("/console/session")],
    ["console.session.delete", remove("/console/session")],
    ["console.sessions.list", read("/console/sessions")],
    ["console.sessions.end", remove(`/console/sessions/${ownerSession}`)],
    ["console.sessions.end_others", remove("/console/sessions/others")],
    ["console.sessions.delete", remove("/console/sessions")],
    ["console.phone.create", write("/console/phone", { phone: "+4915111111111" })],
    ["console.phone.verify", write("/console/phone/verify", { phone: "+4915122222222", code: "000000" })],
    ["console.email.create", write("/console/email", { email: "another-address@example.com" })],
    ["console.email.verify", write("/console/email/verify", { email: "another-address@example.com", code: "000000" })],
    ["console.notifications.get", read("/console/notifications")],
    ["console.notifications.update", change("/console/notifications", { low_balance: true })],
    ["console.billing_details.get", read("/console/billing-details")],
    [
      "console.billing_details.update",
      change("/console/billing-details", { company_name: "Example GmbH", tax_id: "DE123456789" })
    ],
    ["console.management_keys.list", read("/console/management-keys")],
    ["console.management_keys.create", write("/console/management-keys", { name: "console", scopes: ["usage:read"] })],
    ["console.management_keys.revoke", remove(`/console/management-keys/${managementKey}`)],
    ["console.top_ups.create", write("/console/top-ups", { amount_usd: 25 })],
    ["console.top_ups.list", read("/console/top-ups")],
    ["console.top_ups.get", read(`/console/top-ups/${topUp}`)],
    ["console.top_ups.simulate", write(`/console/top-ups/${topUp}/simulate`)],
    ["operator.accounts.list", read("/operator/accounts?search=example.com&state=active")],
    ["operator.accounts.get", read(`/operator/accounts/${account}`)],
    ["operator.accounts.suspend", write(`/operator/accounts/${spareAccount}/suspend`, { reason: "chargeback" })],
    ["operator.accounts.resume", write(`/operator/accounts/${suspendedAccount}/resume`, { reason: "settled" })],
    ["operator.accounts.close", write(`/operator/accounts/${spareAccount}/close`, { reason: "requested" })],
    ["operator.accounts.markup", change(`/operator/accounts/${spareAccount}/markup`, { markup_basis_points: 1250 })],
    ["operator.accounts.limits", change(`/operator/accounts/${spareAccount}/limits`, { limit_scale: 2 })],
    ["operator.keys.list", read(`/operator/accounts/${account}/keys`)],
    ["operator.keys.revoke", remove(`/operator/accounts/${account}/keys/${operatorsKey}`)],
    ["operator.requests.list", read(`/operator/accounts/${account}/requests`)],
    ["operator.requests.all", read("/operator/requests")],
    ["operator.requests.get", read(`/operator/requests/${request}`)],
    [
      "operator.requests.refund",
      {
        ...write(`/operator/requests/${request}/refund`, { reason: "outage" }),
        headers: { "idempotency-key": `refund-of-${request}` }
      }
    ],
    ["operator.report", read("/operator/report?by[]=day&by[]=model")],
    ["operator.top_ups.list", read("/operator/top-ups")],
    ["operator.top_ups.of_account", read(`/operator/accounts/${account}/top-ups`)],
    ["operator.top_ups.settle", decide(attendedTopUp, "settle")],
    ["operator.top_ups.dismiss", decide(spareTopUp, "dismiss")],
    ["operator.plans.list", read("/operator/plans")],
    ["operator.plans.create", write("/operator/plans", { name: "gold", markup_basis_points: 1_000 })],
    ["operator.plans.get", read(`/operator/plans/${plan}`)],
    ["operator.plans.set", change(`/operator/plans/${plan}`, { limits: { daily_spend_usd: 50 } })],
    ["operator.plans.remove", remove(`/operator/plans/${sparePlan}`)],
    ["operator.accounts.plan", change(`/operator/accounts/${spareAccount}/plan`, { plan_id: plan })],
    ["operator.spend.list", read("/operator/spend")],
    ["operator.spend.set", change("/operator/spend/openai", { limit_usd: 500 })],
    ["operator.audit.list", read("/operator/audit")],
    ["operator.audit.of_account", read(`/operator/accounts/${account}/audit`)],
    ["operator.session.create", { method: "POST", path: "/operator/session" }],
    ["operator.session.get", read("/operator/session")],
    ["operator.session.delete", remove("/operator/session")],
    ["payments.stripe", write("/payments/stripe")],
    ["payments.simulated", read(`/payments/simulated/${checkout}`)],
    ["chat", write("/chat", hello)],
    ["images", write("/images", image)],
    ["video", write("/video", clip)],
    ["video.status", read(`/video/status?id=${video}`)],
    ["sessions.create", write("/sessions")],
    ["sessions.export", read(`/sessions/${session}/export`)],
    ["messages", write("/messages", { ...hello, max_tokens: 400 })],
    ["messages.count_tokens", write("/messages/count_tokens", hello)]
  ])
}

/** The headers with the credential of a request. */
export type Credential = Readonly<Record<string, string>>

/** A key as a bearer token. */
export const bearer = (key: string): Credential => ({ authorization: `Bearer ${key}` })

/** Makes a call at the API of a service. It follows no redirect. */
export const send = (
  api: string,
  { body, form, headers: own, method, path }: Call,
  headers: Credential = {}
): Effect.Effect<Response> =>
  Effect.promise(() =>
    fetch(`${api}${path}`, {
      method,
      redirect: "manual",
      headers: { ...headers, ...own, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(form === undefined ? (body === undefined ? {} : { body: JSON.stringify(body) }) : { body: form() })
    })
  )
