/** Embeddings and reranking of the sandbox. */
import { Effect } from "effect"
import { base64Of } from "../wire/EmbedDecode.ts"
import type { Provider, WorkCall } from "../Provider.ts"
import { ProviderError, type ProviderFault } from "../ProviderError.ts"
import { refusalOf } from "../voyage/EmbedEncode.ts"
import type { Embeddings } from "../Work.ts"
import type { EmbedWork, Ranking, RerankWork } from "../../domain/Work.ts"
import { countEmbed, countRerank } from "../../domain/WorkSize.ts"
import { bm25 } from "./Bm25.ts"
import type { Steering } from "./Steering.ts"
import { vectorOf } from "./Vectors.ts"
import { playWork } from "./WorkPlay.ts"

/** The default and the maximum number of dimensions of a model's vectors. */
interface Widths {
  readonly usual: number
  readonly most: number
}

const widthsOf = (model: string): Widths => {
  if (model.startsWith("voyage")) return { usual: 1_024, most: 2_048 }
  const most = model.endsWith("-large") ? 3_072 : 1_536
  return { usual: most, most }
}

/** The decimal digits of a 32-bit float. */
const DIGITS = 8

const tokensOf = ({ fault }: Steering, counted: number): number | undefined =>
  fault === "no_usage" ? undefined : fault === "wrong_usage" ? counted * 10 : counted

const refusalOfEmbed = (id: string, most: number, work: EmbedWork): ProviderFault | undefined => {
  if (work.dimensions !== undefined && work.dimensions > most) {
    return { _tag: "Refused", status: 400, detail: `at most ${most} dimensions`, param: "dimensions" }
  }
  return id === "voyage" ? refusalOf(work) : undefined
}

const embedded = ({ candidate }: WorkCall, work: EmbedWork, steering: Steering): Embeddings => {
  const { usual } = widthsOf(candidate.model.id)
  const list = work.inputs.map((input, index) => {
    const vector = Array.from(vectorOf(input, work.dimensions ?? usual))
    const embedding =
      work.format === "base64" ? base64Of(vector) : vector.map((value) => Number(value.toPrecision(DIGITS)))
    return { object: "embedding", index, embedding }
  })
  return { data: Buffer.from(JSON.stringify(list)), tokens: tokensOf(steering, countEmbed(work)) }
}

/** Scores from 0 to 1, relative to the best. */
const reranked = (work: RerankWork, steering: Steering): Ranking => {
  const scores = bm25(work.query, work.documents)
  const best = Math.max(...scores)
  const results = scores
    .map((score, index) => ({ index, score: best === 0 ? 0 : score / best }))
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, work.topN)
  return { results, tokens: tokensOf(steering, countRerank(work)) }
}

/** Embeddings and reranking return something for every input, so an empty answer is a malformed one. */
const empty: ProviderFault = { _tag: "Malformed", detail: "a simulated answer without content" }

/** The embeddings and the reranking of the double with this id. It rejects what the real provider would reject. */
export const makeRetrieval = (id: string): Required<Pick<Provider, "embed" | "rerank">> => {
  const play = <A>(call: WorkCall, refusal: ProviderFault | undefined, made: (steering: Steering) => A) =>
    playWork(id, call, (steering): Effect.Effect<A, ProviderError> => {
      const fault = refusal ?? (steering.fault === "empty" ? empty : undefined)
      return fault === undefined
        ? Effect.sync(() => made(steering))
        : Effect.fail(new ProviderError({ provider: id, fault }))
    })
  return {
    embed: (call, work) =>
      play(call, refusalOfEmbed(id, widthsOf(call.candidate.model.id).most, work), (steering) =>
        embedded(call, work, steering)
      ),
    rerank: (call, work) => play(call, undefined, (steering) => reranked(work, steering))
  }
}
