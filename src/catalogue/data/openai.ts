import { at, type Entry, sampling, textModels } from "../Entry.ts"

const openai = textModels("openai", "OpenAI", sampling.openai)

const classic = ["tools", "vision", "json_mode", "structured_outputs", "logprobs"] as const
const reasoner = ["tools", "vision", "json_mode", "structured_outputs", "reasoning"] as const
const textReasoner = ["tools", "json_mode", "structured_outputs", "reasoning"] as const

export const openaiModels: ReadonlyArray<Entry> = [
  openai({
    id: "gpt-6-astra",
    name: "GPT-6 Astra",
    released: "2026-09-03",
    context: 1_050_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "OpenAI's largest GPT-6 model, for long end-to-end work that combines reasoning, code and tools.",
    at: [at("openai", "gpt-6-astra"), at("azure", "gpt-6-astra")]
  }),
  openai({
    id: "gpt-6-sol",
    name: "GPT-6 Sol",
    released: "2026-09-22",
    context: 1_050_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "The middle of the GPT-6 family, for everyday coding and agent work.",
    at: [at("openai", "gpt-6-sol"), at("azure", "gpt-6-sol"), at("openrouter", "openai/gpt-6-sol")]
  }),
  openai({
    id: "gpt-6-luna",
    name: "GPT-6 Luna",
    released: "2026-09-22",
    context: 1_050_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "The smallest GPT-6 model, for extraction, classification and other work in volume.",
    at: [at("openai", "gpt-6-luna"), at("azure", "gpt-6-luna"), at("openrouter", "openai/gpt-6-luna")]
  }),
  openai({
    id: "gpt-5.6-sol",
    name: "GPT-5.6 Sol",
    released: "2026-07-09",
    context: 1_050_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "The largest model of the GPT-5.6 family, for professional and analytical work.",
    at: [at("openai", "gpt-5.6-sol"), at("azure", "gpt-5.6-sol"), at("bedrock", "global.openai.gpt-5.6-sol")]
  }),
  openai({
    id: "gpt-5.6-terra",
    name: "GPT-5.6 Terra",
    released: "2026-07-09",
    context: 1_050_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "The GPT-5.6 model between Sol and Luna in size and price.",
    at: [
      at("openai", "gpt-5.6-terra"),
      at("azure", "gpt-5.6-terra"),
      at("bedrock", "global.openai.gpt-5.6-terra"),
      at("openrouter", "openai/gpt-5.6-terra")
    ]
  }),
  openai({
    id: "gpt-5.6-luna",
    name: "GPT-5.6 Luna",
    released: "2026-07-09",
    context: 1_050_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "The low-cost model of the GPT-5.6 family.",
    at: [
      at("openai", "gpt-5.6-luna"),
      at("azure", "gpt-5.6-luna"),
      at("bedrock", "global.openai.gpt-5.6-luna"),
      at("openrouter", "openai/gpt-5.6-luna")
    ]
  }),
  openai({
    id: "gpt-5.5",
    name: "GPT-5.5",
    released: "2026-04-23",
    context: 1_050_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "General reasoning model with a window of a million tokens.",
    at: [
      at("openai", "gpt-5.5"),
      at("azure", "gpt-5.5"),
      at("bedrock", "openai.gpt-5.5", { contextWindow: 272_000 }),
      at("openrouter", "openai/gpt-5.5")
    ]
  }),
  openai({
    id: "gpt-5.4",
    name: "GPT-5.4",
    released: "2026-03-05",
    context: 1_050_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "The first GPT-5 model with a window of a million tokens.",
    at: [
      at("openai", "gpt-5.4"),
      at("azure", "gpt-5.4"),
      at("bedrock", "openai.gpt-5.4", { contextWindow: 272_000 }),
      at("openrouter", "openai/gpt-5.4")
    ]
  }),
  openai({
    id: "gpt-5.4-mini",
    name: "GPT-5.4 mini",
    released: "2026-03-17",
    context: 400_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "Smaller GPT-5.4 for coding, computer use and sub-agents.",
    at: [at("openai", "gpt-5.4-mini"), at("azure", "gpt-5.4-mini"), at("openrouter", "openai/gpt-5.4-mini")]
  }),
  openai({
    id: "gpt-5.4-nano",
    name: "GPT-5.4 nano",
    released: "2026-03-17",
    context: 400_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "The cheapest GPT-5.4, for simple work in volume.",
    at: [at("openai", "gpt-5.4-nano"), at("azure", "gpt-5.4-nano"), at("openrouter", "openai/gpt-5.4-nano")]
  }),
  openai({
    id: "gpt-5.2",
    name: "GPT-5.2",
    released: "2025-12-11",
    context: 400_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "Reasoning model for coding and agents with adjustable effort.",
    at: [at("openai", "gpt-5.2"), at("azure", "gpt-5.2"), at("openrouter", "openai/gpt-5.2")]
  }),
  openai({
    id: "gpt-5.1",
    name: "GPT-5.1",
    released: "2025-11-13",
    context: 400_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "Revision of GPT-5 that can also answer without reasoning first.",
    at: [at("openai", "gpt-5.1"), at("azure", "gpt-5.1"), at("openrouter", "openai/gpt-5.1")]
  }),
  openai({
    id: "gpt-5",
    name: "GPT-5",
    released: "2025-08-07",
    context: 400_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "OpenAI's first model to merge its reasoning and general lines.",
    at: [at("openai", "gpt-5"), at("azure", "gpt-5"), at("openrouter", "openai/gpt-5")]
  }),
  openai({
    id: "gpt-5-mini",
    name: "GPT-5 mini",
    released: "2025-08-07",
    context: 400_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "Faster and cheaper GPT-5 for well-defined tasks.",
    at: [at("openai", "gpt-5-mini"), at("azure", "gpt-5-mini"), at("openrouter", "openai/gpt-5-mini")]
  }),
  openai({
    id: "gpt-5-nano",
    name: "GPT-5 nano",
    released: "2025-08-07",
    context: 400_000,
    output: 128_000,
    can: reasoner,
    sampling: sampling.gpt,
    about: "The smallest GPT-5, for summaries and classification.",
    at: [at("openai", "gpt-5-nano"), at("azure", "gpt-5-nano"), at("openrouter", "openai/gpt-5-nano")]
  }),
  openai({
    id: "o3",
    name: "o3",
    released: "2025-04-16",
    context: 200_000,
    output: 100_000,
    can: reasoner,
    sampling: sampling.fixed,
    parallelCalls: false,
    about: "Reasoning model for mathematics, science, code and images.",
    at: [at("openai", "o3"), at("azure", "o3-2025-04-16"), at("openrouter", "openai/o3")]
  }),
  openai({
    id: "o4-mini",
    name: "o4-mini",
    released: "2025-04-16",
    context: 200_000,
    output: 100_000,
    can: reasoner,
    sampling: sampling.fixed,
    parallelCalls: false,
    about: "Small and fast reasoning model that also reads images.",
    at: [at("openai", "o4-mini"), at("azure", "o4-mini"), at("openrouter", "openai/o4-mini")]
  }),
  openai({
    id: "o3-mini",
    name: "o3-mini",
    released: "2025-01-31",
    status: "deprecated",
    context: 200_000,
    output: 100_000,
    can: textReasoner,
    sampling: sampling.fixed,
    parallelCalls: false,
    about: "Small reasoning model for science, mathematics and code, text only.",
    at: [at("openai", "o3-mini"), at("azure", "o3-mini"), at("openrouter", "openai/o3-mini")]
  }),
  openai({
    id: "o1",
    name: "o1",
    released: "2024-12-17",
    status: "deprecated",
    context: 200_000,
    output: 100_000,
    can: reasoner,
    sampling: sampling.fixed,
    parallelCalls: false,
    about: "OpenAI's first full reasoning model.",
    at: [at("openai", "o1"), at("azure", "o1"), at("openrouter", "openai/o1")]
  }),
  openai({
    id: "gpt-4.1",
    name: "GPT-4.1",
    released: "2025-04-14",
    context: 1_047_576,
    output: 32_768,
    can: classic,
    about: "Model without reasoning for code and instructions over long contexts.",
    at: [at("openai", "gpt-4.1"), at("azure", "gpt-4.1"), at("openrouter", "openai/gpt-4.1")]
  }),
  openai({
    id: "gpt-4.1-mini",
    name: "GPT-4.1 mini",
    released: "2025-04-14",
    context: 1_047_576,
    output: 32_768,
    can: classic,
    about: "Mid-sized GPT-4.1 with the same long context.",
    at: [at("openai", "gpt-4.1-mini"), at("azure", "gpt-4.1-mini"), at("openrouter", "openai/gpt-4.1-mini")]
  }),
  openai({
    id: "gpt-4.1-nano",
    name: "GPT-4.1 nano",
    released: "2025-04-14",
    context: 1_047_576,
    output: 32_768,
    can: classic,
    about: "The smallest GPT-4.1, for low latency and classification.",
    at: [at("openai", "gpt-4.1-nano"), at("azure", "gpt-4.1-nano"), at("openrouter", "openai/gpt-4.1-nano")]
  }),
  openai({
    id: "gpt-4o",
    name: "GPT-4o",
    released: "2024-05-13",
    context: 128_000,
    output: 16_384,
    can: classic,
    about: "General model that reads text and images.",
    at: [at("openai", "gpt-4o"), at("azure", "gpt-4o"), at("openrouter", "openai/gpt-4o")]
  }),
  openai({
    id: "gpt-4o-mini",
    name: "GPT-4o mini",
    released: "2024-07-18",
    context: 128_000,
    output: 16_384,
    // 2,833 and 5,667 for each of up to eight tiles.
    perImage: 48_169,
    can: classic,
    about: "Small general model that reads text and images at low cost.",
    at: [at("openai", "gpt-4o-mini"), at("azure", "gpt-4o-mini"), at("openrouter", "openai/gpt-4o-mini")]
  })
]

const weights = textModels("openai", "OpenAI", sampling.open)

export const openaiWeights: ReadonlyArray<Entry> = [
  weights({
    id: "openai/gpt-oss-120b",
    name: "gpt-oss 120B",
    released: "2025-08-05",
    context: 131_072,
    output: 32_768,
    can: textReasoner,
    about: "Open-weights mixture of experts with adjustable reasoning effort.",
    at: [
      at("groq", "openai/gpt-oss-120b"),
      at("cerebras", "gpt-oss-120b"),
      at("fireworks", "accounts/fireworks/models/gpt-oss-120b"),
      at("baseten", "openai/gpt-oss-120b"),
      at("bedrock", "openai.gpt-oss-120b-1:0"),
      at("ovhcloud", "gpt-oss-120b"),
      at("cloudflare", "@cf/openai/gpt-oss-120b"),
      at("openrouter", "openai/gpt-oss-120b")
    ]
  }),
  weights({
    id: "openai/gpt-oss-20b",
    name: "gpt-oss 20B",
    released: "2025-08-05",
    context: 131_072,
    output: 32_768,
    can: textReasoner,
    about: "The smaller open-weights gpt-oss model.",
    at: [
      at("groq", "openai/gpt-oss-20b"),
      at("fireworks", "accounts/fireworks/models/gpt-oss-20b"),
      at("bedrock", "openai.gpt-oss-20b-1:0"),
      at("ovhcloud", "gpt-oss-20b"),
      at("cloudflare", "@cf/openai/gpt-oss-20b"),
      at("openrouter", "openai/gpt-oss-20b")
    ]
  })
]
