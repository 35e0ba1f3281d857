/** All listed models, in display order. A file of `data/` lists the text models of one vendor, or those of one other modality. */
import amazon from "./data/amazon.json" with { type: "json" }
import anthropic from "./data/anthropic.json" with { type: "json" }
import cohere from "./data/cohere.json" with { type: "json" }
import deepseek from "./data/deepseek.json" with { type: "json" }
import embeddings from "./data/embeddings.json" with { type: "json" }
import google from "./data/google.json" with { type: "json" }
import imageEdits from "./data/image-edits.json" with { type: "json" }
import images from "./data/images.json" with { type: "json" }
import meta from "./data/meta.json" with { type: "json" }
import microsoft from "./data/microsoft.json" with { type: "json" }
import minimax from "./data/minimax.json" with { type: "json" }
import mistral from "./data/mistral.json" with { type: "json" }
import moonshot from "./data/moonshot.json" with { type: "json" }
import nvidia from "./data/nvidia.json" with { type: "json" }
import openai from "./data/openai.json" with { type: "json" }
import openaiWeights from "./data/openai-weights.json" with { type: "json" }
import perplexity from "./data/perplexity.json" with { type: "json" }
import qwen from "./data/qwen.json" with { type: "json" }
import rerank from "./data/rerank.json" with { type: "json" }
import search from "./data/search.json" with { type: "json" }
import speech from "./data/speech.json" with { type: "json" }
import videos from "./data/videos.json" with { type: "json" }
import xai from "./data/xai.json" with { type: "json" }
import xiaomi from "./data/xiaomi.json" with { type: "json" }
import zai from "./data/zai.json" with { type: "json" }
import { type Entry, modelsOf } from "./Entry.ts"

const autoRouter: Entry = {
  id: "svc/auto",
  name: "Auto Router",
  vendor: "svc",
  brand: "Tollgate",
  description: "Chooses a model for each request by its task, its size and the caller's limits.",
  modality: "text",
  status: "preview",
  released: "2026-11-01",
  capabilities: ["streaming", "tools", "vision", "json_mode", "structured_outputs", "reasoning"],
  contextWindow: 1_050_000,
  maxOutputTokens: 128_000,
  hiddenReasoning: true,
  virtual: true,
  supportedParameters: ["max_tokens", "tools", "tool_choice", "response_format", "reasoning"],
  pricingNote: "Costs what the chosen model costs.",
  listings: []
}

export const entries: ReadonlyArray<Entry> = [
  autoRouter,
  ...modelsOf("openai.json", openai),
  ...modelsOf("anthropic.json", anthropic),
  ...modelsOf("google.json", google),
  ...modelsOf("xai.json", xai),
  ...modelsOf("deepseek.json", deepseek),
  ...modelsOf("mistral.json", mistral),
  ...modelsOf("meta.json", meta),
  ...modelsOf("qwen.json", qwen),
  ...modelsOf("moonshot.json", moonshot),
  ...modelsOf("zai.json", zai),
  ...modelsOf("minimax.json", minimax),
  ...modelsOf("openai-weights.json", openaiWeights),
  ...modelsOf("amazon.json", amazon),
  ...modelsOf("cohere.json", cohere),
  ...modelsOf("perplexity.json", perplexity),
  ...modelsOf("nvidia.json", nvidia),
  ...modelsOf("microsoft.json", microsoft),
  ...modelsOf("xiaomi.json", xiaomi),
  ...modelsOf("embeddings.json", embeddings),
  ...modelsOf("rerank.json", rerank),
  ...modelsOf("search.json", search),
  ...modelsOf("speech.json", speech),
  ...modelsOf("images.json", images),
  ...modelsOf("image-edits.json", imageEdits),
  ...modelsOf("videos.json", videos)
]

/** The IDs of all listed models. */
export const modelIds: ReadonlySet<string> = new Set(entries.map((entry) => entry.id))
