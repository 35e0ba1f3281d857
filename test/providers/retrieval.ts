import type { Candidate } from "../../src/domain/Plan.ts"
import type { Price } from "../../src/domain/Pricing.ts"
import type { EmbedWork, RerankWork, WorkCall } from "../../src/providers/Work.ts"
import { candidate } from "./calls.ts"
import { workCall } from "./work.ts"

/** A call for work of a model of this id. */
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
