import { at, type Entry, sampling, textModels } from "../Entry.ts"

const mistral = textModels("mistral", "Mistral AI", sampling.mistral)

const plain = ["tools", "json_mode", "structured_outputs"] as const
const seeing = ["tools", "vision", "json_mode", "structured_outputs"] as const

export const mistralModels: ReadonlyArray<Entry> = [
  mistral({
    id: "mistral-large-2512",
    name: "Mistral Large 3",
    released: "2025-12-02",
    context: 262_144,
    output: 262_144,
    can: seeing,
    about: "Mistral's large open-weights mixture of experts.",
    at: [
      at("mistral", "mistral-large-2512"),
      at("bedrock", "mistral.mistral-large-3-675b-instruct"),
      at("openrouter", "mistralai/mistral-large-2512")
    ]
  }),
  mistral({
    id: "mistral-medium-3-5",
    name: "Mistral Medium 3.5",
    released: "2026-04-29",
    context: 262_144,
    output: 262_144,
    can: [...seeing, "reasoning"],
    about: "General model that can reason and read images.",
    at: [at("mistral", "mistral-medium-3-5"), at("openrouter", "mistralai/mistral-medium-3-5")]
  }),
  mistral({
    id: "mistral-medium-3-1",
    name: "Mistral Medium 3.1",
    released: "2025-08-12",
    context: 131_072,
    output: 131_072,
    can: seeing,
    about: "Mid-sized general model that reads images.",
    at: [at("mistral", "mistral-medium-2508"), at("openrouter", "mistralai/mistral-medium-3.1")]
  }),
  mistral({
    id: "mistral-small-2603",
    name: "Mistral Small 4",
    released: "2026-03-16",
    context: 256_000,
    output: 256_000,
    can: [...seeing, "reasoning"],
    about: "Small model that joins instruction, reasoning and image reading.",
    at: [at("mistral", "mistral-small-2603"), at("openrouter", "mistralai/mistral-small-2603")]
  }),
  mistral({
    id: "mistral-small-3.2",
    name: "Mistral Small 3.2",
    released: "2025-06-20",
    context: 128_000,
    output: 16_384,
    can: seeing,
    about: "Open-weights model of 24 billion parameters.",
    at: [
      at("ovhcloud", "Mistral-Small-3.2-24B-Instruct-2506"),
      at("mistral", "mistral-small-3.2-24b-instruct"),
      at("openrouter", "mistralai/mistral-small-3.2-24b-instruct")
    ]
  }),
  mistral({
    id: "ministral-14b-2512",
    name: "Ministral 3 14B",
    released: "2025-12-02",
    context: 262_144,
    output: 262_144,
    can: seeing,
    about: "The largest of the small open-weights Ministral 3 family.",
    at: [
      at("mistral", "ministral-14b-2512"),
      at("bedrock", "mistral.ministral-3-14b-instruct"),
      at("openrouter", "mistralai/ministral-14b-2512")
    ]
  }),
  mistral({
    id: "ministral-8b-2512",
    name: "Ministral 3 8B",
    released: "2025-12-02",
    context: 262_144,
    output: 262_144,
    can: seeing,
    about: "Small open-weights model for modest hardware.",
    at: [
      at("mistral", "ministral-8b-2512"),
      at("bedrock", "mistral.ministral-3-8b-instruct"),
      at("openrouter", "mistralai/ministral-8b-2512")
    ]
  }),
  mistral({
    id: "ministral-3b-2512",
    name: "Ministral 3 3B",
    released: "2025-12-02",
    context: 131_072,
    output: 131_072,
    can: seeing,
    about: "The smallest Ministral 3 model.",
    at: [
      at("mistral", "ministral-3b-2512"),
      at("bedrock", "mistral.ministral-3-3b-instruct"),
      at("openrouter", "mistralai/ministral-3b-2512")
    ]
  }),
  mistral({
    id: "codestral-2508",
    name: "Codestral 2508",
    released: "2025-07-30",
    context: 256_000,
    output: 256_000,
    can: plain,
    about: "Code model with low latency.",
    at: [at("mistral", "codestral-2508"), at("openrouter", "mistralai/codestral-2508")]
  }),
  mistral({
    id: "devstral-2512",
    name: "Devstral 2",
    released: "2025-12-09",
    context: 262_144,
    output: 262_144,
    can: plain,
    about: "Open-weights model for coding agents.",
    at: [
      at("mistral", "devstral-2512"),
      at("bedrock", "mistral.devstral-2-123b"),
      at("openrouter", "mistralai/devstral-2512")
    ]
  }),
  mistral({
    id: "mistral-nemo",
    name: "Mistral Nemo",
    released: "2024-07-18",
    context: 128_000,
    output: 16_384,
    can: ["tools", "json_mode"],
    about: "Open-weights model of 12 billion parameters in many languages.",
    at: [
      at("mistral", "mistral-nemo"),
      at("novita", "mistralai/mistral-nemo"),
      at("openrouter", "mistralai/mistral-nemo")
    ]
  })
]
