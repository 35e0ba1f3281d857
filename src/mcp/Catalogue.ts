/** The tools that read the catalogue and estimate costs. */
import { Effect, Schema } from "effect"
import { Api } from "../../schemas/Api.ts"
import { integer, textOf } from "../../schemas/Bounds.ts"
import { ModelDetail, ModelQuery, Modality } from "../../schemas/catalogue/Models.ts"
import { ModelString } from "../../schemas/Ids.ts"
import { CostEstimate, EstimateRequest, WorkEstimateRequest } from "../../schemas/inference/Estimate.ts"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { select, toWire } from "../catalogue/Listing.ts"
import { LiveFigures } from "../catalogue/LiveFigures.ts"
import { decoder } from "../dialects/Decode.ts"
import { failure } from "../domain/Failure.ts"
import { estimates } from "../http/handlers/Chat.ts"
import type { ToolOf } from "./Tool.ts"

const { max_price, modality, provider, q, sort, supported_parameters, zdr } = ModelQuery.fields

/** The most models of one answer: a list of all would fill a model's context. */
const LIST_LIMIT = 100
const DEFAULT_LIMIT = 30

const ListInput = Schema.Struct({
  modality: modality.annotateKey({ description: "What the model makes or does. `text` is chat." }),
  q: q.annotateKey({ description: "Words that must all occur in the model's id, name, brand or description." }),
  provider: provider.annotateKey({ description: "Only models that this provider serves now." }),
  supported_parameters: supported_parameters.annotateKey({
    description:
      "Only models that take all of these request parameters, separated by commas, such as `tools,response_format`."
  }),
  max_price: max_price.annotateKey({
    description: "Only chat models at or below this price of a million prompt tokens, in US dollars."
  }),
  zdr: zdr.annotateKey({ description: "Only models that a provider serves without keeping any data." }),
  sort: sort.annotateKey({ description: "The order; `-` reverses it. `price` compares a typical request." }),
  limit: Schema.optionalKey(integer(1, LIST_LIMIT)).annotateKey({
    description: `How many models to list, ${DEFAULT_LIMIT} unless given.`
  })
})

const { contextWindow, id, name, servable, status } = ModelDetail.fields

const ListOutput = Schema.Struct({
  models: Schema.Array(
    Schema.Struct({
      id,
      name,
      modality: Modality,
      status,
      servable,
      context_window: contextWindow,
      pricing: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite]))
    })
  ),
  total: Schema.Int
})

/** The short form of a model: prices per million tokens where tokens are counted, as people compare them. */
export const shortOf = (model: typeof ModelDetail.Type): (typeof ListOutput.Type)["models"][number] => {
  const { meteredCompletionPerToken: output, meteredPromptPerToken: input, perUnitUsd, unit } = model.pricing
  const perMillion = (rate: number) => Math.round(rate * 1e12) / 1e6
  return {
    id: model.id,
    name: model.name,
    modality: model.modality,
    status: model.status,
    servable: model.servable,
    context_window: model.contextWindow,
    pricing: {
      unit,
      ...(input === null ? {} : { input_usd_per_million_tokens: perMillion(input) }),
      ...(output === null ? {} : { output_usd_per_million_tokens: perMillion(output) }),
      ...(perUnitUsd === null ? {} : { usd_per_unit: perUnitUsd })
    }
  }
}

const decodeList = decoder(ListInput, { strict: true })

const listModels = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const live = yield* LiveFigures
  return {
    name: "list_models",
    title: "List models",
    description:
      "List the AI models that this service offers, with their prices. Use it to choose a model id for the other tools. Filter by `modality` (`text`, `image`, `video`, `audio`, `embedding`, `rerank`, `search`) or by words in `q`. Use `get_model` for all facts of one model. Free.",
    input: ListInput,
    output: ListOutput,
    kind: "read",
    openWorld: false,
    like: Api.groups.models.endpoints.list,
    run: ({ body, principal: { terms } }) =>
      Effect.map(Effect.fromResult(decodeList(body)), ({ limit = DEFAULT_LIMIT, ...query }) => {
        const current = catalogue.current()
        const found = select(
          current.all.map((model) => toWire(current, live, model, terms)),
          query
        )
        return { structured: { models: found.slice(0, limit).map(shortOf), total: found.length } }
      })
  } satisfies ToolOf
})

const GetInput = Schema.Struct({ id: ModelString.annotateKey({ description: "The model's id, from `list_models`." }) })
const decodeGet = decoder(GetInput, { strict: true })

const getModel = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  const live = yield* LiveFigures
  return {
    name: "get_model",
    title: "Get a model",
    description:
      "Get all facts of one model: prices, context window, request parameters, capabilities, and its providers with their recent speed and success rate. Free.",
    input: GetInput,
    output: ModelDetail,
    kind: "read",
    openWorld: false,
    like: Api.groups.models.endpoints.get,
    run: ({ body, principal: { terms } }) =>
      Effect.flatMap(Effect.fromResult(decodeGet(body)), ({ id }) => {
        const current = catalogue.current()
        const model = current.find(id)
        return model === undefined
          ? Effect.fail(failure({ _tag: "NotFound", what: "model", id }))
          : Effect.succeed({ structured: toWire(current, live, model, terms) })
      })
  } satisfies ToolOf
})

const { characters, documents, duration, n } = WorkEstimateRequest.fields
const { input_tokens, max_tokens, model } = EstimateRequest.fields

const EstimateInput = Schema.Struct({
  model: model.annotateKey({ description: "The model's id, or a fallback chain of ids joined by commas." }),
  input: Schema.optionalKey(Schema.Union([textOf(1, 1_000_000), Schema.Array(textOf(1, 1_000_000))])).annotateKey({
    description: "The prompt of a chat, the text to speak, or the texts to embed."
  }),
  input_tokens: input_tokens.annotateKey({ description: "About how many tokens the prompt has, in place of a text." }),
  max_tokens: max_tokens.annotateKey({ description: "The most tokens that the answer of a chat may have." }),
  documents: documents.annotateKey({ description: "The documents to rerank." }),
  characters: characters.annotateKey({ description: "How many characters to speak, in place of the text." }),
  n: n.annotateKey({ description: "How many images to make." }),
  duration: duration.annotateKey({ description: "The seconds of a video." })
})

const estimateCost = Effect.map(
  estimates,
  (estimateOf) =>
    ({
      name: "estimate_cost",
      title: "Estimate a cost",
      description:
        "Estimate what a call of `chat`, `generate_image`, `create_video`, `search`, `embed`, `rerank` or `speak` would cost, and whether the balance can pay for it. Send the members that determine the price: a prompt for chat, `n` for images, `duration` for video, `characters` for speech. Free; it calls no model.",
      input: EstimateInput,
      output: CostEstimate,
      kind: "read",
      openWorld: false,
      like: Api.groups.chat.endpoints.estimate,
      run: ({ body, exchange, principal }) =>
        Effect.map(estimateOf(principal, exchange, body), (structured) => ({ structured }))
    }) satisfies ToolOf
)

/** `list_models`, `get_model` and `estimate_cost`. */
export const catalogueTools = Effect.all([listModels, getModel, estimateCost])
