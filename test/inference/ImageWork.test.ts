import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Accounts } from "../../src/account/Accounts.ts"
import { Audit } from "../../src/account/Audit.ts"
import { Keys } from "../../src/account/Keys.ts"
import { Auth } from "../../src/auth/Auth.ts"
import { Customers, OPERATOR } from "../../src/billing/Customers.ts"
import { Catalogue } from "../../src/catalogue/Catalogue.ts"
import { noChanges } from "../../src/catalogue/Changes.ts"
import { LiveFigures } from "../../src/catalogue/LiveFigures.ts"
import { defaultPolicy } from "../../src/domain/Plan.ts"
import { ImageWork, type ImagesRequest } from "../../src/inference/ImageWork.ts"
import { Work } from "../../src/inference/Work.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import { Config } from "../../src/platform/config/Config.ts"
import { DataDirectory } from "../../src/platform/database/DataDirectory.ts"
import { newRequestId } from "../../src/platform/Ids.ts"
import { Media } from "../../src/platform/files/Media.ts"
import { Outbound } from "../../src/platform/outbound/Outbound.ts"
import { PromptImages } from "../../src/inference/PromptImages.ts"
import { PublicFetch } from "../../src/platform/outbound/PublicFetch.ts"
import { PublicUrl } from "../../src/platform/outbound/PublicUrl.ts"
import { Unavailable } from "../../src/platform/database/Sql.ts"
import { AnswerMemory, ReservableMemory } from "../../src/providers/pool/AnswerMemory.ts"
import type { Provider } from "../../src/providers/Provider.ts"
import { ProviderError, type ProviderFault } from "../../src/providers/ProviderError.ts"
import { ProviderPool } from "../../src/providers/pool/ProviderPool.ts"
import type { ImagesWork, MediaBytes } from "../../src/domain/Work.ts"
import { Router } from "../../src/router/Router.ts"
import { Requests } from "../../src/usage/Requests.ts"
import { upstream } from "../providers/upstream.ts"
import { drawWork } from "../providers/work.ts"
import { layer as database } from "../support/Database.ts"
import { withFacts } from "../support/Facts.ts"

const BALANCE = 1_000_000_000n
const PNG = Buffer.from("89504e470d0a1a0a0000000d", "hex")
const image: MediaBytes = { bytes: PNG, contentType: "image/png" }
const inline = `data:image/png;base64,${PNG.toString("base64")}`

/** Vertex charges more for an image than Gemini, which is tried first. */
const MODEL = "gemini-2.5-flash-image"
const [AT_GEMINI, AT_VERTEX] = [39_000_000n, 100_000_000n]
const dear = { model: MODEL, provider: "vertex", unit: "image", usd: 0.1, source: "this test" } as const
const changes = { load: Effect.succeed({ ...noChanges, prices: [dear] }), version: Effect.succeed("") }

const clocks = { connectMs: 60_000, firstTokenMs: 60_000, idleMs: 60_000, totalMs: 60_000 }

type Draw = NonNullable<Provider["makeImages"]>

const provider = (id: string, draw: Draw): Provider => {
  const notAsked = () => Effect.die(new Error("a chat was requested"))
  return { id, stopsBillingOnAbort: true, chat: notAsked, chatStream: notAsked, makeImages: draw }
}

const fails = (id: string, fault: ProviderFault): Provider =>
  provider(id, () => Effect.fail(new ProviderError({ provider: id, fault })))

/** A provider that makes this many images, and records its calls. */
const draws = (id: string, count: number, one: MediaBytes = image) => {
  const asked: Array<ImagesWork> = []
  const draw: Draw = (_, work) =>
    Effect.sync(() => {
      asked.push(work)
      return { images: Array.from({ length: count }, () => one) }
    })
  return { provider: provider(id, draw), asked }
}

const directory = Layer.effect(
  DataDirectory,
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "tollgate-images-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    ),
    (path) => ({ path })
  )
)

/** A file store that stores this many files, then fails. */
const storing = (most: number) =>
  Layer.effect(
    Media,
    Effect.map(Media, (media) => {
      let left = most
      const away = Effect.fail(new Unavailable({ store: "file store" }))
      return { ...media, store: (file) => Effect.suspend(() => (left-- > 0 ? media.store(file) : away)) }
    })
  ).pipe(
    Layer.provide(Media.layer),
    Layer.provide(PublicUrl.layer),
    Layer.provide(Config.layerFrom({ PUBLIC_URL: "https://gate.example" }))
  )

const scene = (providers: ReadonlyArray<Provider>, stores = Infinity) => {
  const options = {
    holdTtl: Duration.minutes(5),
    chargeTtl: Duration.minutes(5),
    delivery: Duration.minutes(2),
    drain: Duration.minutes(1),
    shutdownGrace: Duration.seconds(20)
  }
  const rooms = ImageWork.layer.pipe(
    Layer.provideMerge(Work.layerFrom(options)),
    Layer.provideMerge(ProviderPool.layerFrom({ providers, clocks, observe: () => undefined })),
    Layer.provideMerge(Layer.mergeAll(Router.layer, Requests.layer, storing(stores))),
    Layer.provideMerge(PromptImages.layer.pipe(Layer.provide(PublicFetch.layerFrom({ allowLoopback: true })))),
    Layer.provideMerge(
      Layer.mergeAll(
        Catalogue.layerFrom({
          sandbox: true,
          keyed: new Set(["fal", "gemini", "openai", "vertex"]),
          hosts: [],
          changes
        }),
        LiveFigures.layer
      )
    ),
    Layer.provideMerge(Layer.mergeAll(Auth.layer, Customers.layer)),
    Layer.provideMerge(Layer.mergeAll(Ledger.layer, Accounts.layer, Keys.layer)),
    Layer.provideMerge(Audit.layer),
    Layer.provideMerge(Layer.mergeAll(database, directory, Outbound.layer))
  )
  return Effect.flatMap(Layer.build(rooms), (context) =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const requests = yield* Requests
      const media = yield* Media
      const opened = yield* (yield* Customers).open("images@example.com", BALANCE, OPERATOR)
      const accountId = opened.account.id
      const principal = yield* (yield* Auth).authenticate(`Bearer ${opened.inferenceKey}`, "inference")
      const { make } = yield* ImageWork
      const request = (more: Partial<ImagesRequest> = {}): ImagesRequest => ({
        requestId: newRequestId(),
        operation: "images.generations",
        principal,
        model: MODEL,
        policy: defaultPolicy,
        claim: undefined,
        steering: undefined,
        arrivedAt: performance.now(),
        work: drawWork({ n: 3 }),
        image: undefined,
        form: "url",
        ...more
      })
      return {
        media,
        make: (more?: Partial<ImagesRequest>) => make(request(more)),
        reasonOf: (more?: Partial<ImagesRequest>) =>
          Effect.map(Effect.flip(make(request(more))), ({ reason }) => reason),
        spent: Effect.map(ledger.balance(accountId), (one) => {
          assert.strictEqual(one!.held, 0n)
          return BALANCE - one!.posted
        }),
        row: (id: string) => Effect.map(requests.find(accountId, id), (one) => withFacts(one!)),
        stored: Effect.map(media.list(accountId, { limit: 100 }), ({ files }) => files)
      }
    }).pipe(Effect.provide(context))
  )
}

const wrongImage = (message: string) => ({ _tag: "ValidationError", problems: [{ field: "image", message }] }) as const

describe("images", () => {
  it.live("are charged up front at the highest price, and refunded for images not made", () =>
    Effect.gen(function* () {
      const gemini = draws("gemini", 2)
      const { make, media, row, spent, stored } = yield* scene([gemini.provider, draws("vertex", 3).provider])
      const answer = yield* make()
      assert.deepInclude(answer, { provider: "gemini", resolvedModel: MODEL, used: 2, cost: 2n * AT_GEMINI })
      const files = yield* stored
      assert.sameMembers(
        answer.value.map((one) => ("url" in one ? one.url : "")),
        files.map(({ id }) => media.urlOf(id))
      )
      assert.deepInclude(files[0], { contentType: "image/png", purpose: "image", bytes: PNG.length })
      assert.strictEqual(yield* spent, 2n * AT_GEMINI)
      const { closed, refunded, settled, status } = yield* row(answer.requestId)
      assert.deepStrictEqual([settled, refunded], [3n * AT_VERTEX, 3n * AT_VERTEX - 2n * AT_GEMINI])
      assert.strictEqual(status, "succeeded")
      assert.deepInclude(closed as object, { usage: { units: 2, unit: "image" } })
      assert.deepStrictEqual(gemini.asked, [drawWork({ n: 3 })])
    }).pipe(Effect.scoped)
  )

  it.live("are never more than requested, whatever the provider returns", () =>
    Effect.gen(function* () {
      const down = fails("gemini", { _tag: "ServerError", status: 500, detail: "down" })
      const { make, spent, stored } = yield* scene([down, draws("vertex", 9, { ...image }).provider])
      const answer = yield* make({ form: "b64_json" })
      assert.deepStrictEqual(
        answer.value.map((one) => ("base64" in one ? one.base64 : "")),
        Array.from({ length: 3 }, () => PNG.toString("base64"))
      )
      assert.deepInclude(answer, { provider: "vertex", used: 3, cost: 3n * AT_VERTEX })
      assert.strictEqual(yield* spent, 3n * AT_VERTEX)
      assert.deepStrictEqual(yield* stored, [])
    }).pipe(Effect.scoped)
  )

  it.live("are free when none was made or no provider serves", () =>
    Effect.gen(function* () {
      const none = yield* scene([draws("gemini", 0).provider])
      const requestId = newRequestId()
      assert.deepStrictEqual(yield* none.reasonOf({ requestId }), { _tag: "EmptyGeneration" })
      assert.strictEqual(yield* none.spent, 0n)
      assert.deepStrictEqual((yield* none.row(requestId)).closed?.routing?.provider_attempts, [
        { provider: "gemini", outcome: "failed", attempt_index: 0 }
      ])
      const failing = (fault: ProviderFault) =>
        Effect.gen(function* () {
          const { reasonOf, spent } = yield* scene([fails("gemini", fault), fails("vertex", fault)])
          const reason = yield* reasonOf()
          assert.strictEqual(yield* spent, 0n)
          return reason
        })
      const down = yield* failing({ _tag: "ServerError", status: 500, detail: "down" })
      assert.strictEqual(down._tag, "GenerationFailed")
      const late = yield* failing({ _tag: "TimedOut", clock: "total" })
      assert.deepStrictEqual(late, { _tag: "GenerationFailed", detail: "no provider answered in time" })
      const refused = yield* failing({ _tag: "Refused", status: 400, detail: "not that", param: "size" })
      assert.deepInclude(refused, { _tag: "ProviderRefused", param: "size" })
    }).pipe(Effect.scoped)
  )

  it.live("are neither charged nor kept when one of them cannot be stored", () =>
    Effect.gen(function* () {
      const { reasonOf, row, spent, stored } = yield* scene([draws("gemini", 3).provider], 2)
      const requestId = newRequestId()
      assert.deepStrictEqual(yield* reasonOf({ requestId }), { _tag: "StoreUnavailable" })
      assert.strictEqual(yield* spent, 0n)
      assert.deepStrictEqual(yield* stored, [])
      const { closed, status } = yield* row(requestId)
      assert.strictEqual(status, "failed")
      // The provider has made all three.
      assert.deepInclude(closed?.attemptCosts?.[0], { provider: "gemini", nano: 3 * Number(AT_GEMINI) })
    }).pipe(Effect.scoped)
  )

  it.live("are replayed under an idempotency key, unless they are too large to store", () =>
    Effect.gen(function* () {
      const long = { bytes: Buffer.concat([PNG, Buffer.alloc(800_000)]), contentType: "image/png" }
      const [gemini, vertex] = [draws("gemini", 1), draws("vertex", 1, long)]
      const { make, reasonOf, spent } = yield* scene([gemini.provider, vertex.provider])
      const claimed = (key: string) => ({
        work: drawWork(),
        claim: { idempotencyKey: key, claim: `POST /images/generations ${key}`, fingerprint: "f" }
      })
      const first = yield* make(claimed("a"))
      assert.deepStrictEqual(yield* make(claimed("a")), { ...first, replayed: true })
      const bytes = yield* make({ ...claimed("b"), form: "b64_json" })
      assert.deepStrictEqual(yield* make({ ...claimed("b"), form: "b64_json" }), { ...bytes, replayed: true })
      const policy = { ...defaultPolicy, order: ["vertex"] }
      yield* make({ ...claimed("c"), policy, form: "b64_json" })
      const again = yield* reasonOf({ ...claimed("c"), policy, form: "b64_json" })
      assert.strictEqual(again._tag, "IdempotencyResultUnavailable")
      assert.strictEqual(yield* spent, 2n * AT_GEMINI + AT_VERTEX)
      assert.deepStrictEqual([gemini.asked.length, vertex.asked.length], [2, 1])
    }).pipe(Effect.scoped)
  )

  it.live("reserve memory before the call, until they are stored", () =>
    Effect.gen(function* () {
      const memory = yield* AnswerMemory
      const free: Array<number> = []
      const asked = provider("gemini", () => {
        free.push(memory.free)
        return Effect.succeed({ images: Array.from({ length: 10 }, () => image) })
      })
      const { make } = yield* scene([asked])
      yield* make({ work: drawWork({ n: 10 }) })
      free.push(memory.free)
      assert.deepStrictEqual(free, [512 - 63, 512])
    }).pipe(Effect.scoped, Effect.provideService(AnswerMemory, new ReservableMemory()))
  )
})

describe("images to edit", () => {
  it.live("reach the provider as bytes, downloaded once or inline", () =>
    Effect.gen(function* () {
      const paths: Array<string> = []
      const host = yield* upstream(({ url }, response) => {
        paths.push(url!)
        response.end(url === "/a.png" ? PNG : "no image")
      })
      const fal = draws("fal", 1)
      const { make, reasonOf, row, spent } = yield* scene([fal.provider])
      const edit = { model: "flux-kontext-pro", work: drawWork() }
      for (const url of [`${host.origin}/a.png`, inline]) yield* make({ ...edit, image: url })
      assert.deepStrictEqual(
        fal.asked.map(({ images }) => images.map(({ bytes, contentType }) => [Buffer.from(bytes), contentType])),
        [[[PNG, "image/png"]], [[PNG, "image/png"]]]
      )
      const charged = yield* spent
      const requestId = newRequestId()
      const wrong = yield* reasonOf({ ...edit, requestId, image: `${host.origin}/text` })
      assert.deepStrictEqual(wrong, wrongImage("must be a PNG, JPEG, GIF or WebP image"))
      assert.deepInclude(yield* row(requestId), { status: "failed", settled: 40_000_000n, refunded: 40_000_000n })
      assert.strictEqual(yield* spent, charged)
      assert.deepStrictEqual(paths, ["/a.png", "/text"])
      assert.lengthOf(fal.asked, 2)
    }).pipe(Effect.scoped)
  )

  it.live("are rejected as GIF when the model does not support it, before the charge or after the download", () =>
    Effect.gen(function* () {
      const gif = Buffer.from("GIF89a", "latin1")
      const host = yield* upstream((_, response) => void response.end(gif))
      const [openai, fal] = [draws("openai", 1), draws("fal", 1)]
      const { make, reasonOf, row, spent } = yield* scene([openai.provider, fal.provider])
      const inlined = `data:image/png;base64,${gif.toString("base64")}`
      const wrong = wrongImage("must be a PNG, JPEG or WebP image for gpt-image-1; got a GIF image")
      const [early, late] = [newRequestId(), newRequestId()]
      assert.deepStrictEqual(yield* reasonOf({ model: "gpt-image-1", requestId: early, image: inlined }), wrong)
      assert.strictEqual((yield* Effect.exit(row(early)))._tag, "Failure")
      const image = `${host.origin}/a.gif`
      assert.deepStrictEqual(yield* reasonOf({ model: "gpt-image-1", requestId: late, image }), wrong)
      assert.deepInclude(yield* row(late), { status: "failed" })
      assert.strictEqual(yield* spent, 0n)
      assert.lengthOf(openai.asked, 0)
      for (const one of [inlined, image]) yield* make({ model: "flux-kontext-pro", work: drawWork(), image: one })
      assert.deepStrictEqual(
        fal.asked.map(({ images }) => images[0]?.contentType),
        ["image/gif", "image/gif"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("require a model that edits images, and such a model requires an image", () =>
    Effect.gen(function* () {
      const openai = draws("openai", 1)
      const { make, reasonOf, spent } = yield* scene([openai.provider])
      yield* make({ model: "gpt-image-1", work: drawWork(), image: inline })
      assert.lengthOf(openai.asked[0]!.images, 1)
      const charged = yield* spent
      const plain = yield* reasonOf({ image: inline })
      assert.deepStrictEqual(plain, wrongImage(`must be absent, because ${MODEL} does not edit images`))
      const bare = yield* reasonOf({ model: "flux-kontext-max" })
      assert.deepStrictEqual(bare, wrongImage("is required, because flux-kontext-max edits images"))
      assert.strictEqual((yield* reasonOf({ model: "gpt-4o-mini", image: inline }))._tag, "UnknownModel")
      const local = yield* reasonOf({ model: "gpt-image-1", image: "https://10.0.0.1/a.png" })
      assert.deepStrictEqual(local, wrongImage("must be at a public address"))
      assert.strictEqual(yield* spent, charged)
    }).pipe(Effect.scoped)
  )
})
