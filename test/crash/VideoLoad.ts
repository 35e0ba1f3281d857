/** Clients that hand videos in, the host that makes them, and the receiver that is told of their ends; all of it noted. */
import { Effect, Schedule, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Webhook } from "standardwebhooks"
import { Random } from "../ledger/Random.ts"
import { upstream } from "../providers/upstream.ts"
import type { VideoNotes, Told } from "./Notes.ts"

/** The account that asks for videos, and what it is opened with. */
export const PURSE = { name: "videos", credit: 1_000_000_000_000n } as const

export const NO_VIDEOS: VideoNotes = { handed: [], jobs: [], told: [], credited: 0n, posted: 0n }

const MOST_VIDEOS = 40

/** A client gives a video up after so many tries. */
const TRIES_MAX = 8

/** What a prompt begins with whose video the host cannot make. */
const BAD = "bad"

/** A host that speaks fal's queue, and an endpoint that says no now and then. */
export interface VideoHost {
  readonly origin: string
  readonly told: Array<Told>
  /** What the endpoint verifies with, and whether it says no by chance. */
  readonly endpoint: { secret: string; refusesSometimes: boolean }
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  return text
}

const send = (response: ServerResponse, status: number, body: object) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))

const hear = (videoHost: VideoHost, random: Random, headers: IncomingMessage["headers"], body: string): number => {
  const refused = videoHost.endpoint.refusesSometimes && random.chance(0.2)
  const told = { event: String(headers["webhook-id"]), accepted: !refused, at: Date.now() }
  try {
    new Webhook(videoHost.endpoint.secret).verify(body, headers as Record<string, string>)
    videoHost.told.push({ ...told, verified: true })
  } catch {
    videoHost.told.push({ ...told, verified: false })
  }
  return refused ? 500 : 200
}

/** Starts the host and the endpoint; they end with the scope. */
export const startVideoHost: Effect.Effect<VideoHost, never, Scope.Scope> = Effect.gen(function* () {
  const random = new Random(7)
  const told: Array<Told> = []
  let made = 0
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const [path, body] = [request.url ?? "", await textOf(request)]
    if (path === "/hook") return void response.writeHead(hear(videoHost, random, request.headers, body)).end()
    if (path.endsWith("/clip.mp4")) return void response.end(Buffer.from("\0\0\0\x18ftypisom", "latin1"))
    if (request.method === "POST") {
      const id = `${body.includes(`"${BAD} `) ? BAD : "good"}-${made++}`
      return send(response, 200, { request_id: id, response_url: `${origin}/fal-ai/veo3/requests/${id}` })
    }
    if (path.endsWith("/status")) return send(response, 200, { status: "COMPLETED" })
    if (path.includes(`/${BAD}-`)) return send(response, 422, { detail: [{ msg: "not this", type: "value_error" }] })
    send(response, 200, { video: { url: `${origin}/clip.mp4` } })
  }
  const { origin } = yield* upstream((request, response) => {
    // A gateway that was killed breaks its request off: there is nobody to answer.
    answer(request, response).catch(() => response.destroy())
  })
  const videoHost: VideoHost = { origin, told, endpoint: { secret: "", refusesSometimes: true } }
  return videoHost
})

const asked = async (url: string, key: string, body: object, more: Record<string, string> = {}) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...more }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> }
}

/** Registers the endpoint of the account with this key. */
export const subscribe = (videoHost: VideoHost, port: number, key: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    const wanted = { url: `${videoHost.origin}/hook`, events: ["video.completed", "video.failed"] }
    const made = await asked(`http://127.0.0.1:${port}/api/v1/webhooks`, key, wanted)
    videoHost.endpoint.secret = String(made.body["secret"])
  })

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** One client, until it is told to end: it hands videos in, each again where it does not know what became of it. */
export const requestVideos = async (
  handed: Array<VideoNotes["handed"][number]>,
  working: {
    readonly ports: ReadonlyArray<number>
    readonly key: string
    readonly seed: number
    readonly goesOn: () => boolean
  }
): Promise<void> => {
  const random = new Random(working.seed * 1_013)
  for (let number = 0; number < MOST_VIDEOS && working.goesOn(); number++) {
    const key = `video-${number}`
    const prompt = `${random.chance(0.2) ? BAD : "good"} video ${number}`
    const body = { model: "veo-3", prompt, duration: 4, aspect_ratio: "16:9" }
    const first = random.below(working.ports.length)
    for (let count = 0; count < TRIES_MAX; count++) {
      const port = working.ports[(first + count) % working.ports.length] ?? 0
      const url = `http://127.0.0.1:${port}/api/v1/videos`
      const end = await asked(url, working.key, body, { "idempotency-key": key }).catch(() => undefined)
      const sold = end !== undefined && end.status < 300
      handed.push({ key, status: end?.status, id: sold ? String(end.body["id"]) : undefined })
      if (sold) break
      await pause(100 * (count + 1))
    }
    await pause(random.below(400))
  }
}

const leftOf = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ left: bigint }>`SELECT (SELECT count(*) FROM video_job WHERE completed_at IS NULL)
      + (SELECT count(*) FROM webhook_delivery WHERE status = 'pending') AS left`,
    ([row]) => Number(row?.left ?? 0n)
  )

/** The dead have their leases ended, and what waits for a later attempt is due; the audit names what has not ended then. */
export const settleVideos = (sql: SqlClient.SqlClient, { endpoint }: VideoHost) =>
  Effect.gen(function* () {
    endpoint.refusesSometimes = false
    // What a living gateway is sending now is not to be sent by another as well.
    yield* Effect.sleep("2 seconds")
    yield* sql`UPDATE video_job SET busy_until = NULL WHERE completed_at IS NULL`
    yield* sql`UPDATE job SET acquired_at = NULL, acquired_by = NULL WHERE state = 'pending'`
    yield* sql`UPDATE webhook_delivery SET due_at = now() WHERE status = 'pending'`
    const hurry = sql`UPDATE webhook_delivery SET due_at = now()
      WHERE status = 'pending' AND claim IS NULL AND due_at > now()`
    // Nodes hear of new work, and look by themselves once a minute.
    const wake = sql`SELECT pg_notify('tollgate_work', work) FROM (VALUES ('jobs'), ('webhooks')) AS one(work)`
    yield* Effect.andThen(hurry, Effect.andThen(wake, leftOf(sql))).pipe(
      Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: (left) => left === 0 }),
      Effect.timeoutOption("40 seconds")
    )
  })

/** What the database says of the account's videos. */
export const videosOf = (
  sql: SqlClient.SqlClient,
  { told }: VideoHost,
  accountId: string,
  handed: VideoNotes["handed"]
) =>
  Effect.gen(function* () {
    const jobs = yield* sql<VideoNotes["jobs"][number]>`SELECT id, state, charged, cost,
        (SELECT count(*)::int FROM webhook_event WHERE body::json -> 'data' ->> 'id' = j.id) AS events,
        (SELECT count(*)::int FROM webhook_delivery WHERE event_id = 'evt_' || j.id AND status = 'delivered') AS delivered
      FROM video_job j WHERE account_id = ${accountId} ORDER BY id`
    const [row] = yield* sql<{ posted: bigint }>`SELECT posted FROM balance WHERE account_id = ${accountId}`
    return { handed, jobs, told, credited: PURSE.credit, posted: row?.posted ?? 0n } satisfies VideoNotes
  })
