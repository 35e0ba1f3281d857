/** A provider that answers every request at once with a large set of vectors, in the requested format. */
import { createServer } from "node:http"
import { Random } from "../ledger/Random.ts"
import { announceReady } from "./Ready.ts"
import { DIMENSIONS, INPUTS } from "./Vectors.ts"

const random = new Random(1)

/** Small numbers with as many digits as OpenAI sends. */
const vectors = Array.from({ length: INPUTS }, () =>
  Float32Array.from({ length: DIMENSIONS }, () => (random.next() - 0.5) / 12)
)

const bodyOf = (embeddingOf: (vector: Float32Array) => unknown) =>
  Buffer.from(
    JSON.stringify({
      object: "list",
      data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: embeddingOf(vector) })),
      model: "text-embedding-3-small",
      usage: { prompt_tokens: INPUTS, total_tokens: INPUTS }
    })
  )

const bodies = {
  float: bodyOf((vector) => Array.from(vector, (value) => Number(value.toPrecision(8)))),
  base64: bodyOf((vector) => Buffer.from(vector.buffer).toString("base64"))
}

announceReady(
  createServer((request, response) => {
    let end = ""
    request.on("data", (piece: Buffer) => (end = `${end}${piece.toString("latin1")}`.slice(-256)))
    request.on("end", () => {
      const body = end.includes('"encoding_format":"base64"') ? bodies.base64 : bodies.float
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body)
    })
  })
)
