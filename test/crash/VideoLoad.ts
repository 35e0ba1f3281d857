/** A client that submits videos, the provider that makes them, and the endpoint that receives their webhooks. */
import { Effect, Schedule, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { IncomingMessage, ServerResponse } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { Webhook } from "standardwebhooks"
import { Random } from "../ledger/Random.ts"
import { upstream } from "../providers/upstream.ts"
import { bodyOf } from "../support/Bodies.ts"
import type { ReceivedWebhook, VideoEvidence } from "./Evidence.ts"
import { ATTEMPTS_MAX } from "./Load.ts"

/** The account for videos, and its opening credit. */
export const VIDEO_ACCOUNT = { name: "videos", credit: 1_000_000_000_000n } as const

export const NO_VIDEOS: VideoEvidence = { submissions: [], jobs: [], webhooks: [], credited: 0n, posted: 0n }

const MAX_VIDEOS = 40

/** The first word of a prompt that the provider rejects. */
const BAD = "bad"

/** A provider with fal's queue API, and an endpoint that sometimes answers 500. */
export interface VideoHost {
  readonly origin: string
  readonly webhooks: Array<ReceivedWebhook>
  readonly endpoint: { secret: string; failsSometimes: boolean }
}

const send = (response: ServerResponse, status: number, body: object) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

/** Records a webhook and returns the endpoint's status. */
const receiveWebhook = (
  videoHost: VideoHost,
  random: Random,
  headers: IncomingMessage["headers"],
  body: string
): number => {
  const failed = videoHost.endpoint.failsSometimes && random.chance(0.2)
  const received = { event: String(headers["webhook-id"]), accepted: !failed, at: Date.now() }
  try {
    new Webhook(videoHost.endpoint.secret).verify(body, headers as Record<string, string>)
    videoHost.webhooks.push({ ...received, verified: true })
  } catch {
    videoHost.webhooks.push({ ...received, verified: false })
  }
  return failed ? 500 : 200
}

/** Starts the provider and the endpoint, which end with the scope. */
export const startVideoHost: Effect.Effect<VideoHost, never, Scope.Scope> = Effect.gen(function* () {
  const random = new Random(7)
  let count = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path, body] = [request.url ?? "", (await bodyOf(request)).toString()]
    if (path === "/hook") return void response.writeHead(receiveWebhook(videoHost, random, request.headers, body)).end()
    if (path.endsWith("/clip.mp4")) return void response.end(Buffer.from("\0\0\0\x18ftypisom", "latin1"))
    if (request.method === "POST") {
      const id = `${body.includes(`"${BAD} `) ? BAD : "good"}-${count++}`
      return send(response, 200, { request_id: id, response_url: `${origin}/fal-ai/veo3/requests/${id}` })
    }
    if (path.endsWith("/status")) return send(response, 200, { status: "COMPLETED" })
    if (path.includes(`/${BAD}-`)) return send(response, 422, { detail: [{ msg: "not this", type: "value_error" }] })
    send(response, 200, { video: { url: `${origin}/clip.mp4` } })
  }
  const { origin } = yield* upstream((request, response) => {
    // A killed gateway closes its connection in the middle of a request.
    answer(request, response).catch(() => response.destroy())
  })
  const videoHost: VideoHost = { origin, webhooks: [], endpoint: { secret: "", failsSometimes: true } }
  return videoHost
})

const post = async (url: string, key: string, body: object, more: Record<string, string> = {}) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...more }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> }
}

/** Registers the endpoint for the account with this key. */
export const subscribe = (videoHost: VideoHost, port: number, key: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const endpoint = { url: `${videoHost.origin}/hook`, events: ["video.completed", "video.failed"] }
    const created = await post(`http://127.0.0.1:${port}/api/v1/webhooks`, key, endpoint)
    videoHost.endpoint.secret = String(created.body["secret"])
  })

/** Runs one client until it must stop: it submits videos, and retries under the same key until a gateway accepts one. */
export const submitVideos = async (
  submissions: Array<VideoEvidence["submissions"][number]>,
  options: {
    readonly ports: ReadonlyArray<number>
    readonly key: string
    readonly seed: number
    readonly keepGoing: () => boolean
  }
): Promise<void> => {
  const random = new Random(options.seed * 1_013)
  for (let number = 0; number < MAX_VIDEOS && options.keepGoing(); number++) {
    const key = `video-${number}`
    const prompt = `${random.chance(0.2) ? BAD : "good"} video ${number}`
    const body = { model: "veo-3", prompt, duration: 4, aspect_ratio: "16:9" }
    const first = random.below(options.ports.length)
    for (let count = 0; count < ATTEMPTS_MAX; count++) {
      const port = options.ports[(first + count) % options.ports.length] ?? 0
      const url = `http://127.0.0.1:${port}/api/v1/videos`
      const answer = await post(url, options.key, body, { "idempotency-key": key }).catch(() => undefined)
      const accepted = answer !== undefined && answer.status < 300
      submissions.push({ key, status: answer?.status, id: accepted ? String(answer.body["id"]) : undefined })
      if (accepted) break
      await sleep(100 * (count + 1))
    }
    await sleep(random.below(400))
  }
}

/** The number of open video jobs and pending webhook deliveries. */
const openWork = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ open: bigint }>`SELECT (SELECT count(*) FROM video_job WHERE completed_at IS NULL)
      + (SELECT count(*) FROM webhook_delivery WHERE status = 'pending') AS open`,
    ([row]) => Number(row?.open ?? 0n)
  )

/** Ends the leases of killed gateways, makes all deliveries due, and waits for both. The audit lists the videos that stay open. */
export const settleVideos = (sql: SqlClient.SqlClient, { endpoint }: VideoHost) =>
  Effect.gen(function* () {
    endpoint.failsSometimes = false
    // Time for the deliveries in flight, which no second gateway may send.
    yield* Effect.sleep("2 seconds")
    yield* sql`UPDATE video_job SET busy_until = NULL WHERE completed_at IS NULL`
    yield* sql`UPDATE job SET acquired_at = NULL, acquired_by = NULL WHERE state = 'pending'`
    yield* sql`UPDATE webhook_delivery SET due_at = now() WHERE status = 'pending'`
    const makeDue = sql`UPDATE webhook_delivery SET due_at = now()
      WHERE status = 'pending' AND claim IS NULL AND due_at > now()`
    // Without a notification gateways poll for work once a minute.
    const wake = sql`SELECT pg_notify('tollgate_work', work) FROM (VALUES ('jobs'), ('webhooks')) AS one(work)`
    yield* Effect.andThen(makeDue, Effect.andThen(wake, openWork(sql))).pipe(
      Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (open) => open === 0 }),
      Effect.timeoutOption("40 seconds")
    )
  })

/** Reads the evidence of the account's videos from the database. */
export const videosOf = (
  sql: SqlClient.SqlClient,
  { webhooks }: VideoHost,
  accountId: string,
  submissions: VideoEvidence["submissions"]
) =>
  Effect.gen(function* () {
    const jobs = yield* sql<VideoEvidence["jobs"][number]>`SELECT id, state, charged, cost,
        (SELECT count(*)::int FROM webhook_event WHERE body::json -> 'data' ->> 'id' = j.id) AS events,
        (SELECT count(*)::int FROM webhook_delivery WHERE event_id = 'evt_' || j.id AND status = 'delivered') AS delivered
      FROM video_job j WHERE account_id = ${accountId} ORDER BY id`
    const [row] = yield* sql<{ posted: bigint }>`SELECT posted FROM balance WHERE account_id = ${accountId}`
    return {
      submissions,
      jobs,
      webhooks,
      credited: VIDEO_ACCOUNT.credit,
      posted: row?.posted ?? 0n
    } satisfies VideoEvidence
  })
