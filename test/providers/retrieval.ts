import { Effect } from "effect"
import type { Candidate } from "../../src/domain/Plan.ts"
import type { Price } from "../../src/domain/Pricing.ts"
import type { EmbedWork, RerankWork } from "../../src/domain/Work.ts"
import type { WorkCall, Provider } from "../../src/providers/Provider.ts"
import type { ProviderError } from "../../src/providers/ProviderError.ts"
import { candidate } from "./calls.ts"
import { upstream } from "./upstream.ts"
import { workCall } from "./work.ts"

/** A call to a model with this id. */
export const modelCall = (model: string, more: Partial<WorkCall> = {}): WorkCall =>
  workCall({ candidate: candidate("up", { model: { id: model }, upstreamId: model }) as Candidate<Price>, ...more })

export const embedWork = (more: Partial<EmbedWork> = {}): EmbedWork => ({
  inputs: ["a cat", "a dog"],
  dimensions: undefined,
  format: "float",
  inputType: undefined,
  truncation: false,
  user: undefined,
  ...more
})

export const rerankWork = (more: Partial<RerankWork> = {}): RerankWork => ({
  query: "cats",
  documents: ["about dogs", "about cats"],
  topN: undefined,
  truncation: false,
  ...more
})

/** The fault of a call that fails. */
export const faultOf = <A>(effect: Effect.Effect<A, ProviderError>) =>
  Effect.map(Effect.flip(effect), ({ fault }) => fault)

export const embed = (provider: Provider, more: Parameters<typeof embedWork>[0] = {}) =>
  provider.embed!(modelCall("model-1"), embedWork(more))

export const rerank = (provider: Provider) => provider.rerank!(modelCall("model-1"), rerankWork())

/** Starts a host that records each request and gives every request this answer. */
export const answering = (status: number, body: unknown, headers: Record<string, string> = {}) => {
  const asked: Array<{
    readonly path: string | undefined
    readonly credential: string | undefined
    readonly body: unknown
  }> = []
  const host = upstream((request, response) => {
    let text = ""
    request.on("data", (piece: Buffer) => (text += piece.toString()))
    request.on("end", () => {
      asked.push({ path: request.url, credential: request.headers.authorization, body: JSON.parse(text) })
      response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body))
    })
  })
  return Effect.map(host, ({ origin }) => ({ asked, base: `${origin}/v1/` }))
}
