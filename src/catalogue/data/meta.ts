import { at, type Entry, sampling, textModels } from "../Entry.ts"

const llama = textModels("meta-llama", "Meta", sampling.open)
const nemotron = textModels("nvidia", "NVIDIA", sampling.open)
const phi = textModels("microsoft", "Microsoft", sampling.open)

export const metaModels: ReadonlyArray<Entry> = [
  llama({
    id: "meta-llama/llama-4-maverick",
    name: "Llama 4 Maverick",
    released: "2025-04-05",
    context: 1_048_576,
    output: 16_384,
    can: ["tools", "vision", "json_mode", "structured_outputs"],
    about: "Open-weights mixture of 128 experts that reads images.",
    at: [
      at("groq", "meta-llama/llama-4-maverick-17b-128e-instruct"),
      at("fireworks", "accounts/fireworks/models/llama4-maverick-instruct-basic"),
      at("together", "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"),
      at("bedrock", "us.meta.llama4-maverick-17b-instruct-v1:0"),
      at("openrouter", "meta-llama/llama-4-maverick")
    ]
  }),
  llama({
    id: "meta-llama/llama-4-scout",
    name: "Llama 4 Scout",
    released: "2025-04-05",
    context: 131_072,
    output: 16_384,
    can: ["tools", "vision", "json_mode", "structured_outputs"],
    about: "Open-weights mixture of 16 experts that reads images.",
    at: [
      at("groq", "meta-llama/llama-4-scout-17b-16e-instruct"),
      at("together", "meta-llama/Llama-4-Scout-17B-16E-Instruct"),
      at("bedrock", "us.meta.llama4-scout-17b-instruct-v1:0"),
      at("cloudflare", "@cf/meta/llama-4-scout-17b-16e-instruct"),
      at("openrouter", "meta-llama/llama-4-scout")
    ]
  }),
  llama({
    id: "meta-llama/llama-3.3-70b-instruct",
    name: "Llama 3.3 70B Instruct",
    released: "2024-12-06",
    context: 131_072,
    output: 32_768,
    can: ["tools", "json_mode", "structured_outputs"],
    about: "Open-weights text model served by many hosts.",
    at: [
      at("groq", "llama-3.3-70b-versatile"),
      at("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo"),
      at("bedrock", "us.meta.llama3-3-70b-instruct-v1:0", { maxOutputTokens: 8_192 }),
      at("ovhcloud", "Meta-Llama-3_3-70B-Instruct"),
      at("novita", "meta-llama/llama-3.3-70b-instruct", { maxOutputTokens: 8_192 }),
      at("cloudflare", "@cf/meta/llama-3.3-70b-instruct-fp8-fast", { maxOutputTokens: 8_192 }),
      at("openrouter", "meta-llama/llama-3.3-70b-instruct")
    ]
  }),
  llama({
    id: "meta-llama/llama-3.1-70b-instruct",
    name: "Llama 3.1 70B Instruct",
    released: "2024-07-23",
    context: 131_072,
    output: 8_192,
    can: ["tools", "json_mode"],
    about: "Earlier open-weights text model of 70 billion parameters.",
    at: [
      at("together", "meta-llama/Meta-Llama-3.1-70B-Instruct-Turbo"),
      at("bedrock", "us.meta.llama3-1-70b-instruct-v1:0"),
      at("openrouter", "meta-llama/llama-3.1-70b-instruct")
    ]
  }),
  llama({
    id: "meta-llama/llama-3.1-8b-instruct",
    name: "Llama 3.1 8B Instruct",
    released: "2024-07-23",
    context: 131_072,
    output: 8_192,
    can: ["tools", "json_mode"],
    about: "Small open-weights text model with low latency.",
    at: [
      at("groq", "llama-3.1-8b-instant"),
      at("fireworks", "accounts/fireworks/models/llama-v3p1-8b-instruct"),
      at("together", "meta-llama/Meta-Llama-3.1-8B-Instruct-Turbo"),
      at("bedrock", "us.meta.llama3-1-8b-instruct-v1:0"),
      at("ovhcloud", "Llama-3.1-8B-Instruct"),
      at("openrouter", "meta-llama/llama-3.1-8b-instruct", { contextWindow: 16_384 })
    ]
  }),
  llama({
    id: "meta-llama/llama-3.2-3b-instruct",
    name: "Llama 3.2 3B Instruct",
    released: "2024-09-25",
    context: 131_072,
    output: 8_192,
    can: ["json_mode"],
    about: "Very small open-weights text model.",
    at: [
      at("bedrock", "us.meta.llama3-2-3b-instruct-v1:0"),
      at("cloudflare", "@cf/meta/llama-3.2-3b-instruct"),
      at("openrouter", "meta-llama/llama-3.2-3b-instruct")
    ]
  })
]

export const nvidiaModels: ReadonlyArray<Entry> = [
  nemotron({
    id: "nvidia/nemotron-3-ultra-550b-a55b",
    name: "Nemotron 3 Ultra",
    released: "2026-06-04",
    context: 1_000_000,
    output: 128_000,
    can: ["tools", "json_mode", "structured_outputs", "reasoning"],
    about: "NVIDIA's largest open model, for long agentic work.",
    at: [
      at("fireworks", "accounts/fireworks/models/nemotron-3-ultra-nvfp4"),
      at("baseten", "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B"),
      at("openrouter", "nvidia/nemotron-3-ultra-550b-a55b")
    ]
  }),
  nemotron({
    id: "nvidia/nemotron-3-super-120b-a12b",
    name: "Nemotron 3 Super",
    released: "2026-03-11",
    context: 262_144,
    output: 131_072,
    can: ["tools", "json_mode", "structured_outputs", "reasoning"],
    about: "Open mixture of experts with twelve billion active parameters.",
    at: [
      at("bedrock", "nvidia.nemotron-super-3-120b:0"),
      at("cloudflare", "@cf/nvidia/nemotron-3-120b-a12b"),
      at("openrouter", "nvidia/nemotron-3-super-120b-a12b")
    ]
  }),
  nemotron({
    id: "nvidia/nemotron-nano-9b-v2",
    name: "Nemotron Nano 9B v2",
    released: "2025-08-18",
    context: 131_072,
    output: 131_072,
    can: ["tools", "json_mode", "reasoning"],
    about: "Small open model with a reasoning budget.",
    at: [at("bedrock", "nvidia.nemotron-nano-9b-v2:0"), at("openrouter", "nvidia/nemotron-nano-9b-v2")]
  })
]

export const microsoftModels: ReadonlyArray<Entry> = [
  phi({
    id: "microsoft/phi-4",
    name: "Phi-4",
    released: "2024-12-12",
    context: 16_384,
    output: 4_096,
    can: ["json_mode"],
    about: "Small open-weights model trained largely on synthetic data.",
    at: [at("azure", "phi-4"), at("openrouter", "microsoft/phi-4")]
  }),
  phi({
    id: "microsoft/phi-4-mini-instruct",
    name: "Phi-4 mini",
    released: "2025-02-26",
    context: 131_072,
    output: 4_096,
    can: ["tools"],
    about: "Very small open-weights model with a long window.",
    at: [at("azure", "phi-4-mini-instruct"), at("openrouter", "microsoft/phi-4-mini-instruct")]
  })
]
