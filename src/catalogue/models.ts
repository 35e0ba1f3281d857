/** All listed models, in display order. */
import { anthropicModels } from "./data/anthropic.ts"
import { minimaxModels, moonshotModels, xiaomiModels, zaiModels } from "./data/asia.ts"
import { deepseekModels } from "./data/deepseek.ts"
import { amazonModels, cohereModels, perplexityModels } from "./data/enterprise.ts"
import { googleModels } from "./data/google.ts"
import { audioModels, imageEditModels, imageModels, videoModels } from "./data/media.ts"
import { metaModels, microsoftModels, nvidiaModels } from "./data/meta.ts"
import { mistralModels } from "./data/mistral.ts"
import { openaiModels, openaiWeights } from "./data/openai.ts"
import { qwenModels } from "./data/qwen.ts"
import { embeddingModels, rerankModels, searchModels } from "./data/retrieval.ts"
import { xaiModels } from "./data/xai.ts"
import type { Entry } from "./Entry.ts"

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
  ...openaiModels,
  ...anthropicModels,
  ...googleModels,
  ...xaiModels,
  ...deepseekModels,
  ...mistralModels,
  ...metaModels,
  ...qwenModels,
  ...moonshotModels,
  ...zaiModels,
  ...minimaxModels,
  ...openaiWeights,
  ...amazonModels,
  ...cohereModels,
  ...perplexityModels,
  ...nvidiaModels,
  ...microsoftModels,
  ...xiaomiModels,
  ...embeddingModels,
  ...rerankModels,
  ...searchModels,
  ...audioModels,
  ...imageModels,
  ...imageEditModels,
  ...videoModels
]

/** The IDs of all listed models. */
export const modelIds: ReadonlySet<string> = new Set(entries.map((entry) => entry.id))
