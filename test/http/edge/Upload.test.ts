import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { apiRequest } from "../../../src/http/edge/ApiRequest.ts"
import { NodeBodyBudget, BodyBudget } from "../../../src/http/edge/BodyBudget.ts"
import { type Upload, withUpload } from "../../../src/http/edge/Upload.ts"

const form = (parts: ReadonlyArray<readonly [string, string | Blob]>) => {
  const body = new FormData()
  for (const [name, value] of parts) body.append(name, value)
  // As bytes: what is made of a form lazily does not like to be left in its middle.
  return Effect.promise(async () => {
    const made = new Response(body)
    const headers = { "content-type": made.headers.get("content-type") ?? "" }
    return new Request("http://localhost/files", { method: "POST", headers, body: await made.arrayBuffer() })
  })
}

/** The same request as Node receives it. */
const received = (request: Request) =>
  Effect.promise(async () => {
    const source = new IncomingMessage(new Socket())
    source.headers = Object.fromEntries(request.headers)
    source.push(Buffer.from(await request.arrayBuffer()))
    source.push(null)
    return apiRequest(source, new ServerResponse(source))
  })

const read = (request: Request, budget = new BodyBudget(1_000_000)) =>
  Effect.flatMap(received(request), (asked) =>
    withUpload(asked, (upload: Upload) => Effect.succeed(upload)).pipe(Effect.provideService(NodeBodyBudget, budget))
  )

const tagOf = (request: Request, budget?: BodyBudget) =>
  Effect.map(Effect.flip(read(request, budget)), ({ reason }) => reason._tag)

describe("an upload", () => {
  it.effect("returns the file and the form fields, whatever their content types", () =>
    Effect.gen(function* () {
      const budget = new BodyBudget(1_000)
      const { fields, file } = yield* read(
        yield* form([
          ["purpose", "batch"],
          ["file", new Blob(["{}"], { type: "application/json" })]
        ]),
        budget
      )
      assert.deepStrictEqual([...fields], [["purpose", "batch"]])
      assert.strictEqual(Buffer.from(file!.bytes).toString(), "{}")
      assert.strictEqual(budget.used, 0)
      assert.isUndefined((yield* read(yield* form([["a", "b"]]))).file)
    })
  )

  it.effect("is rejected when it is not a valid form", () =>
    Effect.gen(function* () {
      const json = new Request("http://localhost/files", { method: "POST", body: "{}" })
      assert.strictEqual(yield* tagOf(json), "UnsupportedMediaType")
      const gzipped = yield* form([["file", new Blob(["{}"])]])
      gzipped.headers.set("content-encoding", "gzip")
      assert.strictEqual(yield* tagOf(gzipped), "UnsupportedMediaType")
      const broken = new Request("http://localhost/files", {
        method: "POST",
        body: "--a\r\nnothing",
        headers: { "content-type": "multipart/form-data; boundary=a" }
      })
      assert.strictEqual(yield* tagOf(broken), "ValidationError")
      const file = new Blob(["{}"])
      const wrong = [
        [
          ["a", "b"],
          ["a", "c"]
        ],
        [
          ["file", file],
          ["file", file]
        ],
        [["other", file]],
        [["file", "text"]],
        [["a", "b".repeat(2_000)]],
        Array.from({ length: 40 }, (_, at) => [`a${at}`, "b"] as const)
      ] as ReadonlyArray<ReadonlyArray<readonly [string, string | Blob]>>
      for (const parts of wrong)
        assert.strictEqual(yield* tagOf(yield* form(parts)), "ValidationError", String(parts[0]?.[0]))
    })
  )

  it.effect("uses the node's memory budget for bodies, and frees it", () =>
    Effect.gen(function* () {
      const budget = new BodyBudget(100)
      const large = yield* form([["file", new Blob(["a".repeat(1_000)])]])
      assert.strictEqual(yield* tagOf(large, budget), "Overloaded")
      assert.strictEqual(budget.used, 0)
    })
  )
})
