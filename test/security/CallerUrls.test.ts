/** Every URL that a client may send, with values that would lead the gateway into its own network. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type AddressInfo } from "node:net"
import { upstream } from "../providers/upstream.ts"
import { bearer, type Call, callsOf, send } from "../support/Calls.ts"
import { sessionClient } from "../support/Mcp.ts"
import { get, json, post, startService } from "../support/Service.ts"
import { eventually } from "../support/Eventually.ts"
import { urlFields } from "./UrlFields.ts"

const asked = (url: string, part: object) => ({
  role: "user",
  content: [{ type: "text", text: url && "What is it?" }, part]
})

/** The bodies of requests with a URL in a field, for every operation that has the field. */
const fetched: Readonly<Record<string, (url: string) => object>> = {
  "messages.*.content.*.image_url.url": (url) => ({
    messages: [asked(url, { type: "image_url", image_url: { url } })]
  }),
  "input.*.content.*.image_url": (url) => ({
    input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }]
  }),
  "input.*.output.*.image_url": (url) => ({
    input: [
      { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: [{ type: "input_image", image_url: url }] }
    ]
  }),
  image: (url) => ({ image: url }),
  image_url: (url) => ({ image_url: url }),
  "reference_images.*": (url) => ({ reference_images: [url] }),
  reference_video: (url) => ({ reference_video: url }),
  url: (url) => ({ url }),
  "messages.*.content.*.source.url": (url) => ({
    messages: [asked(url, { type: "image", source: { type: "url", url } })]
  }),
  "messages.*.content.*.content.*.source.url": (url) => ({
    messages: [
      { role: "user", content: "Look!" },
      { role: "assistant", content: [{ type: "tool_use", id: "c", name: "look", input: {} }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "image", source: { type: "url", url } }] }]
      }
    ]
  })
}

/** Fields whose name or description sounds like a URL. The gateway connects to nothing for them. */
const others: Readonly<Record<string, string>> = {
  "messages.*.content.*.file.file_data": "a data URL or base64; any other URL is refused",
  "messages.*.content.*.file.filename": "a name for the model",
  "input.*.content.*.file_data": "a data URL or base64; any other URL is refused",
  "input.*.content.*.filename": "a name for the model",
  "input.*.output.*.file_data": "a data URL or base64; any other URL is refused",
  "input.*.output.*.filename": "a name for the model",
  model: "an id of the catalogue",
  prompt: "a text for the model",
  input_file_id: "an id of the account",
  file: "the bytes of a form",
  "?file_id": "an id of the account",
  "?webhook_id": "an id of the account",
  "address_lines.*": "lines of an invoice"
}

/** This machine and its private networks in every spelling. `*` is a port. The URL parser reads several as one address. */
const hostile: ReadonlyArray<string> = [
  "http://127.0.0.1:*/",
  "https://127.0.0.1:*/",
  "https://2130706433:*/",
  "https://0x7f000001:*/",
  "https://0x7f.0.0.1:*/",
  "https://0177.0.0.1:*/",
  "https://017700000001:*/",
  "https://127.1:*/",
  "https://127.0.0.1.:*/",
  "https://127.255.255.254:*/",
  "https://%31%32%37.0.0.1:*/",
  "https://１２７.0.0.1:*/",
  "https://127。0。0。1:*/",
  "https://0.0.0.0:*/",
  "https://0:*/",
  "https://localhost:*/",
  "https://LOCALHOST.:*/",
  "https://a.localhost:*/",
  "https://[::1]:*/",
  "https://[::]:*/",
  "https://[0:0:0:0:0:0:0:1]:*/",
  "https://[::ffff:127.0.0.1]:*/",
  "https://[::ffff:7f00:1]:*/",
  "https://[::127.0.0.1]:*/",
  "https://[64:ff9b::127.0.0.1]:*/",
  "https://[2002:7f00:1::]:*/",
  "https://[fe80::1]:*/",
  "https://[fd00::1]:*/",
  "https://[fec0::1]:*/",
  "https://10.0.0.1:*/",
  "https://172.16.0.1:*/",
  "https://192.168.0.1:*/",
  "https://100.64.0.1:*/",
  "https://169.254.169.254/latest/meta-data/",
  "http://169.254.169.254/latest/meta-data/",
  "https://[fd00:ec2::254]/latest/meta-data/",
  "https://255.255.255.255:*/",
  "https://224.0.0.1:*/",
  "https://user:password@127.0.0.1:*/",
  "https://example.com@127.0.0.1:*/",
  "https://127.0.0.1:*\\@example.com/",
  "https:127.0.0.1:*/",
  "https:/127.0.0.1:*/",
  "https:\\\\127.0.0.1:*/",
  "HTTPS://127.0.0.1:*/",
  " https://127.0.0.1:*/",
  "https://127.0.0.1\t:*/",
  "//127.0.0.1:*/",
  "ftp://127.0.0.1:*/",
  "gopher://127.0.0.1:*/",
  "file:///etc/passwd",
  "ws://127.0.0.1:*/",
  "unix:/var/run/docker.sock",
  "jar:https://127.0.0.1:*!/",
  "https://"
]

/** Opens a port of this machine that counts its connections. */
const trap = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly connections: () => number; readonly close: () => void }>(
    (resume) => {
      let connections = 0
      const server = createServer((socket) => {
        connections += 1
        socket.on("error", () => undefined).destroy()
      })
      server.listen(0, "::", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ port, connections: () => connections, close: () => server.close() }))
      })
    }
  ),
  ({ close }) => Effect.sync(close)
)

/** An address of the internet. No test connects to it. */
const PUBLIC = "93.184.215.14"

const REBINDING = "rebinding.test"

type Addresses = ReadonlyArray<string>

/** The addresses that an attacker's name server answers the first time, and later. */
const names: Readonly<Record<string, readonly [first: Addresses, then: Addresses]>> = Object.fromEntries(
  Object.entries({
    "loopback.test": [["127.0.0.1"]],
    "private.test": [["10.0.0.1"]],
    "metadata.test": [["169.254.169.254"]],
    "sixth.test": [["::1"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "mixed.test": [[PUBLIC, "127.0.0.1"]],
    // Public when the gateway checks it, and this machine when the gateway connects.
    [REBINDING]: [[PUBLIC], ["127.0.0.1"]]
  }).map(([name, [first = [], then = first]]) => [name, [first, then]])
)

/** Starts a gateway and creates an account that can call each operation with a URL. */
const stage = (env: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const addresses = new Map<string, readonly [first: Addresses, then: Addresses]>()
    const asked = new Map<string, number>()
    const resolve = async (hostname: string): Promise<Addresses> => {
      const times = asked.get(hostname) ?? 0
      asked.set(hostname, times + 1)
      return addresses.get(hostname)?.[times === 0 ? 0 : 1] ?? []
    }
    const service = yield* startService(env, [], (config) => {
      const outbound = { ...config.outbound, resolve }
      return { ...config, outbound }
    })
    const customer = yield* service.account()
    const preset = "looking"
    yield* service.preset(customer.account.id, preset, { model: "gpt-4o-mini" })
    const { endpoint } = yield* service.webhooks.register({
      accountId: customer.account.id,
      url: "https://example.com/",
      actor: { type: "operator", id: "test" },
      events: []
    })
    const keys = { management: bearer(customer.managementKey), inference: bearer(customer.inferenceKey) }
    const calls = callsOf({ preset, webhook: endpoint.id })
    const credentialOf = (operation: string) => (operation.startsWith("management.") ? keys.management : keys.inference)
    return { addresses, asked, calls, credentialOf, customer, service, webhook: endpoint.id }
  })

type Stage = Effect.Success<ReturnType<typeof stage>>

const models: Readonly<Record<string, string>> = {
  image: "gpt-image-1",
  image_url: "veo-3",
  "reference_images.*": "veo-3",
  reference_video: "veo-3"
}

const callOf = ({ calls }: Stage, operation: string, path: string, url: string): Call => {
  const call = calls.get(operation)!
  const { input, messages, ...rest } = (call.body ?? {}) as Readonly<Record<string, unknown>>
  const model = models[path]
  return {
    ...call,
    body: {
      ...(input === undefined ? {} : { input }),
      ...(messages === undefined ? {} : { messages }),
      ...rest,
      ...(model && { model }),
      ...fetched[path]!(url)
    }
  }
}

/** Operations that count a prompt and connect to nothing, so they do not check image URLs. */
const counting: ReadonlySet<string> = new Set(["responses.input_tokens", "messages.count_tokens"])

/** Operations that answer before they fetch a URL. */
const LATER = /^(videos\.create|video|estimate)$/

interface Asked {
  readonly status: number
  readonly id?: string
  readonly data?: { readonly id: string }
  readonly object?: string
  readonly error?: { readonly message: string }
}

const asking = (scene: Stage, operation: string, path: string, url: string): Effect.Effect<Asked> =>
  Effect.flatMap(
    send(scene.service.api, callOf(scene, operation, path, url), scene.credentialOf(operation)),
    (answer) => Effect.map(json(answer), (body) => ({ ...body, status: answer.status }))
  )

const rows = urlFields.filter(({ path }) => path in fetched)

describe("a URL from a client", () => {
  it("is covered by this test in every field of the contract", () => {
    const found = new Set(urlFields.map(({ path }) => path))
    const known = [...Object.keys(fetched), ...Object.keys(others)]
    assert.sameMembers(known, [...found], "a field that may hold a URL has no row here, or a row has no field")
    assert.isAtLeast(rows.length, 20)
  })

  it.live("leads to no connection to a private address in any spelling", () =>
    Effect.gen(function* () {
      const trapped = yield* trap
      const scene = yield* stage()
      const faults: Array<string> = []
      for (const { operation, path } of rows) {
        for (const text of hostile) {
          const { error, status } = yield* asking(scene, operation, path, text.replace("*", String(trapped.port)))
          const isCounted = counting.has(operation) && status === 200
          if ((status < 400 || status >= 500) && !isCounted)
            faults.push(`${operation} ${path} ${text}: ${status} ${error?.message}`)
        }
      }
      assert.deepStrictEqual(faults, [])
      assert.strictEqual(trapped.connections(), 0)
      assert.deepStrictEqual(yield* scene.service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("leads to no connection to a private address when its host name resolves to one, even after the check", () =>
    Effect.gen(function* () {
      const trapped = yield* trap
      const scene = yield* stage()
      const { account, inferenceKey } = scene.customer
      const faults: Array<string> = []
      const videos: Array<string> = []
      for (const [at, { operation, path }] of rows.entries()) {
        for (const [name, addresses] of Object.entries(names)) {
          // The connection itself looks up an image's host name, once, and no test connects to the internet.
          if (name === REBINDING && path !== "url") continue
          const hostname = `${at}.${name}`
          scene.addresses.set(hostname, addresses)
          const { data, error, id, object, status } = yield* asking(
            scene,
            operation,
            path,
            `https://${hostname}:${trapped.port}/a.png`
          )
          if (object === "video" || operation === "video") videos.push(id ?? "")
          const label = `${operation} ${path} ${name}: ${status} ${error?.message}`
          // The gateway checks a webhook's address at registration and at delivery, and an image's when it fetches it.
          const isLater = path === "url" && name === REBINDING
          if (status >= 500) faults.push(label)
          if (status < 400 && !isLater && !LATER.test(operation) && !counting.has(operation)) faults.push(label)
          if (status === 200 && isLater) {
            const webhook = operation.endsWith("create") ? (id ?? data?.id) : scene.webhook
            const tested = yield* Effect.flatMap(
              post(`${scene.service.api}/webhooks/${webhook}/test`, inferenceKey, {}),
              json
            )
            if (!JSON.stringify(tested).includes("public address")) faults.push(`${label}: ${JSON.stringify(tested)}`)
          }
          const isLookedUp = scene.asked.has(hostname) || LATER.test(operation) || counting.has(operation)
          if (!isLookedUp) faults.push(`${label}: the name was not looked up`)
        }
      }
      assert.deepStrictEqual(faults, [])
      const jobs = Effect.flatMap(get(`${scene.service.api}/videos?limit=100`, inferenceKey), json)
      const ended = yield* eventually(jobs, (page) =>
        page.data.every(({ status }: { status: string }) => status === "failed" || status === "completed")
      )
      assert.isAtLeast(videos.length, Object.keys(names).length)
      for (const { error, status } of ended.data)
        assert.deepStrictEqual([status, error?.code], ["failed", "validation_error"])
      assert.strictEqual(trapped.connections(), 0)
      assert.strictEqual((yield* scene.service.balance(account.id)).held, 0n)
      assert.deepStrictEqual(yield* scene.service.faults, [])
    }).pipe(Effect.scoped)
  )

  it.live("leads to no other address by a redirect", () =>
    Effect.gen(function* () {
      const trapped = yield* trap
      let asked = 0
      const host = yield* upstream((request, response) => {
        asked += 1
        const location = `http://127.0.0.1:${trapped.port}/`
        const status = Number(request.url?.slice(1))
        response.writeHead(status, {
          location,
          refresh: `0; url=${location}`,
          "content-location": location,
          link: `<${location}>`
        })
        response.end()
      })
      const scene = yield* stage({ OUTBOUND_ALLOW_LOOPBACK: "1" })
      for (const { operation, path } of rows) {
        for (const status of [200, 201, 300, 301, 302, 303, 305, 307, 308]) {
          const answer = yield* asking(scene, operation, path, `${host.origin}/${status}`)
          assert.isBelow(answer.status, 500, `${operation} ${path}`)
          if (operation.endsWith("webhooks.create"))
            yield* post(`${scene.service.api}/webhooks/${answer.id}/test`, scene.customer.inferenceKey, {})
        }
      }
      const jobs = Effect.flatMap(get(`${scene.service.api}/videos?limit=100`, scene.customer.inferenceKey), json)
      yield* eventually(jobs, (page) => page.data.every(({ status }: { status: string }) => status === "failed"))
      assert.isAbove(asked, 50)
      assert.strictEqual(trapped.connections(), 0)
    }).pipe(Effect.scoped)
  )

  it.live("is checked in a batch and in an MCP tool call too", () =>
    Effect.gen(function* () {
      const trapped = yield* trap
      const scene = yield* stage()
      const { inferenceKey } = scene.customer
      const url = `https://127.0.0.1:${trapped.port}/`
      const body = { model: "gpt-4o-mini", ...fetched["messages.*.content.*.image_url.url"]!(url) }
      const batch = yield* Effect.flatMap(
        post(`${scene.service.api}/batch`, inferenceKey, { requests: [{ body }] }),
        json
      )
      assert.include(JSON.stringify(batch), "must be at a public address")
      const agent = yield* sessionClient(scene.service.origin, inferenceKey)
      for (const [name, args] of [
        ["chat", body],
        ["create_video", { model: "veo-3", prompt: "a kite", duration: 4, aspect_ratio: "16:9", image_url: url }]
      ] as const) {
        const called = yield* Effect.promise(() => agent.callTool({ name, arguments: args }))
        const text = JSON.stringify(called)
        assert.include(text, "must be at a public address", name)
      }
      assert.strictEqual(trapped.connections(), 0)
    }).pipe(Effect.scoped)
  )
})
