import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import type { Conversation, ImagePart, Message } from "../../src/domain/Conversation.ts"
import { emptyOutput, type Output } from "../../src/domain/Output.ts"
import {
  makePromptImages,
  type NamedImage,
  type PromptImageLimits,
  promptImageLimits
} from "../../src/inference/PromptImages.ts"
import { PublicFetch, type PublicFetchOptions } from "../../src/platform/outbound/PublicFetch.ts"
import type { PoolCall } from "../../src/providers/pool/CallKind.ts"
import type { ServedAnswer, ServedStream } from "../../src/providers/pool/ProviderPool.ts"
import { closedOrigin, upstream } from "../providers/upstream.ts"
import { asked } from "../support/Conversations.ts"

const PNG = Buffer.from("89504e470d0a1a0a0000000d", "hex")
const png = `data:image/png;base64,${PNG.toString("base64")}`

const at = (url: string, field?: string): ImagePart => ({
  type: "image",
  url,
  detail: "low",
  ...(field === undefined ? {} : { field })
})
const saying = (...messages: ReadonlyArray<Message>): Conversation => asked("", { messages })
const showing = (...images: ReadonlyArray<ImagePart>): Conversation => saying({ role: "user", content: images })

/** The image step in front of a pool, and the conversations that reach the pool. */
const scene = (limits: Partial<PromptImageLimits> = {}, options: Partial<PublicFetchOptions> = {}) =>
  Effect.map(Layer.build(PublicFetch.layerFrom({ allowLoopback: true, ...options })), (context) => {
    const fetching = Effect.runSync(
      Effect.provide(
        Effect.map(PublicFetch, (made) => made),
        context
      )
    )
    const images = makePromptImages(fetching, { ...promptImageLimits, ...limits })
    const reached: Array<Conversation> = []
    const reach = ({ conversation }: PoolCall) => Effect.sync(() => void reached.push(conversation))
    const { chat, chatStream } = images.before({
      chat: (call) => Effect.as(reach(call), { output: emptyOutput } as ServedAnswer<Output>),
      chatStream: (call) => Effect.as(reach(call), {} as ServedStream)
    })
    const callOf = (conversation: Conversation, accountId = "one") => ({ conversation, accountId }) as PoolCall
    return {
      check: (conversation: Conversation) => images.check(conversation)?.reason,
      chat: (conversation: Conversation, accountId?: string) => chat(callOf(conversation, accountId)),
      chatStream: (conversation: Conversation) => chatStream(callOf(conversation)),
      refusal: (conversation: Conversation) =>
        Effect.map(Effect.flip(chat(callOf(conversation))), ({ attempts, failures, reason }) => {
          assert.deepStrictEqual([attempts, failures], [[], []])
          return reason
        }),
      checkOne: (image: NamedImage) => images.checkOne(image)?.reason,
      read: (named: ReadonlyArray<NamedImage>) => images.read("one", named, undefined),
      reached
    }
  })

const wrong = (field: string, message: string) => ({ _tag: "ValidationError", problems: [{ field, message }] }) as const
const wrongNow = (field: string, message: string) => ({ ...wrong(field, message), passing: "soon" }) as const

/** Starts a host that serves an image at every path, and records the requested paths. */
const imageHost = Effect.gen(function* () {
  const paths: Array<string> = []
  const { connections, origin } = yield* upstream((request, response) => {
    paths.push(request.url!)
    response.end(Buffer.concat([PNG, Buffer.from(request.url!)]))
  })
  const dataOf = (path: string) => `data:image/png;base64,${Buffer.concat([PNG, Buffer.from(path)]).toString("base64")}`
  return { connections, dataOf, origin, paths }
})

describe("PromptImages", () => {
  it.live("validates images by the request's text alone, without a download", () =>
    Effect.gen(function* () {
      const { check } = yield* scene({}, { allowLoopback: false })
      assert.isUndefined(check(asked("http://10.0.0.1/ is no image")))
      const jpeg = `base64,${Buffer.from("ffd8ffe000104a4649460001ff", "hex").toString("base64")}`
      const right = [
        png,
        `DATA:image/PNG;base64,${PNG.toString("base64")}`,
        `data:image/jpg;${jpeg}`,
        `data:image/jpeg;${jpeg}`,
        // The content decides, not the declared type.
        png.replace("png", "webp"),
        `data:image/png;${jpeg}`
      ]
      for (const url of [...right, "https://example.com/a"]) assert.isUndefined(check(showing(at(url))), url)
      const refused: ReadonlyArray<readonly [url: string, message: string]> = [
        ["http://example.com/a", "must be an https URL"],
        ["http://127.0.0.1/a", "must be an https URL"],
        ["https://127.0.0.1/a", "must be at a public address"],
        ["https://a:b@example.com/a", "must have no user name or password"],
        ["ftp://example.com/a", "must be an https URL, or a data URL with base64"],
        ["data:image/png,abc", "must be an https URL, or a data URL with base64"],
        ["data:image/png;base64,", "must be a PNG, JPEG, GIF or WebP image"],
        ["data:image/png;base64,AAAA", "must be a PNG, JPEG, GIF or WebP image"],
        [`data:image/svg+xml;base64,${btoa("<svg></svg>")}`, "must be a PNG, JPEG, GIF or WebP image"]
      ]
      for (const [url, message] of refused) {
        const tool: Message = {
          role: "tool",
          toolCallId: "c",
          content: [{ type: "text", text: "t" }, at(url, "there")]
        }
        assert.deepStrictEqual(check(saying({ role: "user", content: [at(png)] }, tool)), wrong("there", message), url)
      }
    }).pipe(Effect.scoped)
  )

  it.live("returns the bytes of images given beside a prompt, each downloaded once", () =>
    Effect.gen(function* () {
      const host = yield* imageHost
      const { checkOne, read } = yield* scene({ imageBytes: 100 })
      const named = [`${host.origin}/a`, png, `${host.origin}/b`, `${host.origin}/a`].map((url) => ({ url }))
      for (const image of named) assert.isUndefined(checkOne(image))
      assert.deepStrictEqual(checkOne({ url: "data:image/png;base64,AAAA", field: "image" })?._tag, "ValidationError")
      const found = yield* Effect.scoped(read(named))
      const bytes = found.map((image) => [image.contentType, Buffer.from(image.bytes).subarray(PNG.length).toString()])
      assert.deepStrictEqual(
        bytes,
        ["/a", "", "/b", "/a"].map((rest) => ["image/png", rest])
      )
      assert.deepStrictEqual(host.paths.toSorted(), ["/a", "/b"])
      const tooLong = yield* Effect.flip(
        Effect.scoped(read([{ url: `${host.origin}/${"long".repeat(30)}`, field: "image" }]))
      )
      assert.deepStrictEqual(tooLong.reason, { _tag: "ImageTooLarge", param: "image", limitBytes: 100 })
    }).pipe(Effect.scoped)
  )

  it.live("limits the different URLs in one request", () =>
    Effect.gen(function* () {
      const { check } = yield* scene({ addresses: 2 })
      const three = [1, 2, 3].map((n) => at(`https://example.com/${n}`, `f${n}`))
      assert.isUndefined(check(showing(...three.slice(1), ...three.slice(1), at(png))))
      const message = "must be one of at most 2 different image URLs of the request"
      assert.deepStrictEqual(check(showing(...three)), wrong("f3", message))
    }).pipe(Effect.scoped)
  )

  it.live("replaces image URLs by bytes everywhere in the conversation, and downloads each URL once", () =>
    Effect.gen(function* () {
      const host = yield* imageHost
      const { chat, chatStream, reached } = yield* scene()
      const paths = Array.from({ length: 9 }, (_, n) => `/${n}`)
      const conversation = (urlOf: (path: string) => string): Conversation =>
        saying(
          { role: "system", content: [{ type: "text", text: "s" }] },
          { role: "user", content: [{ type: "text", text: "t" }, ...paths.map((path) => at(urlOf(path))), at(png)] },
          { role: "assistant", content: [], toolCalls: [{ id: "c", name: "n", arguments: "{}" }] },
          { role: "tool", toolCallId: "c", content: [at(urlOf("/0")), at(urlOf("/tool"), "f")] }
        )
      const given = conversation((path) => host.origin + path)
      yield* chat(given)
      yield* Effect.scoped(chatStream(given))
      assert.deepStrictEqual(reached, [conversation(host.dataOf), conversation(host.dataOf)])
      const once = [...paths, "/tool"].toSorted()
      assert.deepStrictEqual(host.paths.slice(0, 10).toSorted(), once)
      assert.strictEqual(host.paths.length, 20)
      // A conversation without URLs passes through unchanged.
      const inline = showing(at(png))
      yield* chat(inline)
      assert.strictEqual(reached[2], inline)
    }).pipe(Effect.scoped)
  )

  it.live("downloads at most four images in parallel, and cancels them after a failure", () =>
    Effect.gen(function* () {
      let open = 0
      let most = 0
      const waiting: Array<() => void> = []
      const host = yield* upstream((request, response) => {
        most = Math.max(most, ++open)
        response.on("close", () => (open -= 1))
        const answer = () => (request.url === "/bad" ? response.writeHead(404).end() : response.end(PNG))
        waiting.push(answer)
        if (waiting.length === 4) for (const one of waiting.splice(0)) one()
      })
      const { chat, refusal } = yield* scene()
      const images = (...paths: ReadonlyArray<string>) =>
        showing(...paths.map((path) => at(`${host.origin}${path}`, path)))
      yield* chat(images("/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"))
      assert.strictEqual(most, 4)
      const message = "could not be fetched: its host answered with status 404"
      const failing = refusal(images("/1", "/2", "/3", "/bad", "/5", "/6"))
      assert.deepStrictEqual(yield* failing, wrong("/bad", message))
    }).pipe(Effect.scoped)
  )

  it.live("names the field of an image that cannot be downloaded and the reason, but no IP address", () =>
    Effect.gen(function* () {
      const host = yield* upstream((request, response) => {
        if (request.url === "/slow") return
        if (request.url === "/long") response.end(Buffer.concat([PNG, Buffer.alloc(1_000)]))
        else if (request.url === "/down") response.writeHead(503).end()
        else if (request.url === "/page") response.end("<html>")
        else response.writeHead(302, { location: "http://10.0.0.1/" }).end()
      })
      const { reached, refusal } = yield* scene({ imageBytes: 1_000, totalMs: 250 })
      const of = (url: string) => refusal(showing(at(url, "f")))
      const unreachable = wrongNow("f", "could not be fetched: no public host could be reached there")
      assert.deepStrictEqual(yield* of(`${host.origin}/slow`), wrongNow("f", "could not be fetched in 0.25 seconds"))
      assert.deepStrictEqual(yield* of(`${host.origin}/long`), { _tag: "ImageTooLarge", param: "f", limitBytes: 1_000 })
      assert.deepStrictEqual(yield* of(`${host.origin}/page`), wrong("f", "must be a PNG, JPEG, GIF or WebP image"))
      const down = wrongNow("f", "could not be fetched: its host answered with status 503")
      assert.deepStrictEqual(yield* of(`${host.origin}/down`), down)
      const moved = wrong("f", "could not be fetched: its host answered with status 302")
      assert.deepStrictEqual(yield* of(`${host.origin}/moved`), moved)
      assert.deepStrictEqual(yield* of(yield* closedOrigin), unreachable)
      const within = yield* scene({}, { resolve: async () => ["10.0.0.1"] })
      assert.deepStrictEqual(yield* within.refusal(showing(at("https://intranet.test/", "f"))), unreachable)
      assert.deepStrictEqual([...reached, ...within.reached], [])
    }).pipe(Effect.scoped)
  )

  it.live("limits the total size of a request's images, including inline ones", () =>
    Effect.gen(function* () {
      const host = yield* upstream((_, response) => response.end(Buffer.concat([PNG, Buffer.alloc(88)])))
      const { chat, refusal } = yield* scene({ requestBytes: 300 })
      const three = [1, 2, 3].map((n) => at(`${host.origin}/${n}`, `f${n}`))
      yield* chat(showing(...three))
      const reason = yield* refusal(showing(at(png), ...three))
      assert.deepInclude(reason, { _tag: "ImageTooLarge", limitBytes: 300 })
    }).pipe(Effect.scoped)
  )

  it.live("counts an image each time it is sent to the provider", () =>
    Effect.gen(function* () {
      const host = yield* upstream((_, response) => response.end(Buffer.concat([PNG, Buffer.alloc(88)])))
      const { chat, refusal } = yield* scene({ requestBytes: 300 })
      const shown = (times: number) => showing(...Array.from({ length: times }, () => at(`${host.origin}/1`, "f")))
      yield* chat(shown(3))
      assert.deepStrictEqual(yield* refusal(shown(4)), { _tag: "ImageTooLarge", param: "f", limitBytes: 300 })
      const process = yield* scene({ heldBytes: 300 })
      yield* process.chat(shown(3))
      assert.deepStrictEqual(yield* process.refusal(shown(4)), { _tag: "Overloaded" })
    }).pipe(Effect.scoped)
  )

  it.live("limits the images in one request, and names the first beyond the limit", () =>
    Effect.gen(function* () {
      const { check } = yield* scene()
      const images = Array.from({ length: 101 }, (_, n) => at(n % 2 === 0 ? png : "https://example.com/a", `f${n}`))
      assert.isUndefined(check(showing(...images.slice(1))))
      assert.deepStrictEqual(
        check(showing(...images)),
        wrong("f100", "must be one of at most 100 images of the request")
      )
    }).pipe(Effect.scoped)
  )

  it.live("limits the bytes held by all requests, and frees them at the end of each answer", () =>
    Effect.gen(function* () {
      const host = yield* upstream((_, response) => response.end(Buffer.concat([PNG, Buffer.alloc(88)])))
      const { chat, chatStream, refusal } = yield* scene({ heldBytes: 250 })
      const two = showing(at(`${host.origin}/1`), at(`${host.origin}/2`))
      const scope = yield* Scope.make()
      yield* Scope.provide(chatStream(two), scope)
      assert.deepStrictEqual(yield* refusal(two), { _tag: "Overloaded" })
      yield* Scope.close(scope, Exit.void)
      yield* chat(two)
      yield* chat(two)
    }).pipe(Effect.scoped)
  )

  it.live("limits the bytes and downloads of each account, so that other accounts keep theirs", () =>
    Effect.gen(function* () {
      const host = yield* upstream((_, response) => response.end(Buffer.concat([PNG, Buffer.alloc(88)])))
      const two = showing(at(`${host.origin}/1`), at(`${host.origin}/2`))
      const bytes = yield* scene({ accountBytes: 250 })
      const scope = yield* Scope.make()
      yield* Scope.provide(bytes.chatStream(two), scope)
      assert.deepStrictEqual(yield* bytes.refusal(two), { _tag: "Overloaded" })
      yield* bytes.chat(two, "other")
      yield* Scope.close(scope, Exit.void)
      yield* bytes.chat(two)

      const waiting: Array<() => void> = []
      const slow = yield* upstream((request, response) => {
        if (request.url === "/slow") waiting.push(() => response.end(PNG))
        else response.end(PNG)
      })
      const fetches = yield* scene({ accountFetches: 1 })
      const fast = showing(at(`${slow.origin}/fast`))
      const running = yield* Effect.forkChild(fetches.chat(showing(at(`${slow.origin}/slow`))))
      while (waiting.length === 0) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      assert.deepStrictEqual(yield* fetches.refusal(fast), { _tag: "Overloaded" })
      yield* fetches.chat(fast, "other")
      for (const answer of waiting) answer()
      yield* Fiber.join(running)
      yield* fetches.chat(fast)
    }).pipe(Effect.scoped)
  )

  it.live("fails as overloaded when no further download is possible", () =>
    Effect.gen(function* () {
      const host = yield* imageHost
      const { chat, refusal } = yield* scene({}, { connections: 1 })
      yield* chat(showing(at(`${host.origin}/1`)))
      const reason = yield* refusal(showing(at(`${host.origin}/1`), at(`${host.origin}/2`)))
      assert.deepStrictEqual(reason, { _tag: "Overloaded" })
    }).pipe(Effect.scoped)
  )
})
