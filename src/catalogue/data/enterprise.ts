import { at, type Entry, sampling, textModels } from "../Entry.ts"

const cohere = textModels("cohere", "Cohere", sampling.open)
const nova = textModels("amazon", "Amazon", sampling.bedrock)
const sonar = textModels("perplexity", "Perplexity", sampling.perplexity)

export const cohereModels: ReadonlyArray<Entry> = [
  cohere({
    id: "command-a",
    name: "Command A",
    released: "2025-03-13",
    context: 256_000,
    output: 8_000,
    can: ["tools", "json_mode", "structured_outputs"],
    about: "Cohere's open-weights model for tools, retrieval and many languages.",
    at: [at("cohere", "command-a-03-2025"), at("openrouter", "cohere/command-a")]
  }),
  cohere({
    id: "command-r-plus-08-2024",
    name: "Command R+ 08-2024",
    released: "2024-08-30",
    context: 128_000,
    output: 4_000,
    can: ["tools", "json_mode"],
    about: "Large model for retrieval over several steps.",
    at: [at("cohere", "command-r-plus-08-2024"), at("openrouter", "cohere/command-r-plus-08-2024")]
  }),
  cohere({
    id: "command-r-08-2024",
    name: "Command R 08-2024",
    released: "2024-08-30",
    context: 128_000,
    output: 4_000,
    can: ["tools", "json_mode"],
    about: "Mid-sized model for retrieval and tool use.",
    at: [at("cohere", "command-r-08-2024"), at("openrouter", "cohere/command-r-08-2024")]
  }),
  cohere({
    id: "command-r7b-12-2024",
    name: "Command R7B 12-2024",
    released: "2024-12-13",
    context: 128_000,
    output: 4_000,
    can: ["json_mode"],
    about: "Small and fast model for retrieval.",
    at: [at("cohere", "command-r7b-12-2024"), at("openrouter", "cohere/command-r7b-12-2024")]
  })
]

export const amazonModels: ReadonlyArray<Entry> = [
  nova({
    id: "nova-2-lite",
    name: "Nova 2 Lite",
    released: "2025-12-02",
    context: 1_000_000,
    output: 65_536,
    can: ["tools", "vision", "reasoning"],
    about: "Low-cost multimodal model with adjustable thinking.",
    at: [at("bedrock", "global.amazon.nova-2-lite-v1:0"), at("openrouter", "amazon/nova-2-lite-v1")]
  }),
  nova({
    id: "nova-premier",
    name: "Nova Premier",
    released: "2025-04-30",
    context: 1_000_000,
    output: 32_000,
    can: ["tools", "vision"],
    about: "The largest model of the first Nova generation.",
    at: [at("bedrock", "us.amazon.nova-premier-v1:0"), at("openrouter", "amazon/nova-premier-v1")]
  }),
  nova({
    id: "nova-pro",
    name: "Nova Pro",
    released: "2024-12-03",
    context: 300_000,
    output: 10_000,
    can: ["tools", "vision"],
    about: "Multimodal model between speed and accuracy.",
    at: [at("bedrock", "us.amazon.nova-pro-v1:0"), at("openrouter", "amazon/nova-pro-v1")]
  }),
  nova({
    id: "nova-lite",
    name: "Nova Lite",
    released: "2024-12-03",
    context: 300_000,
    output: 10_000,
    can: ["tools", "vision"],
    about: "Cheap and fast multimodal model.",
    at: [at("bedrock", "us.amazon.nova-lite-v1:0"), at("openrouter", "amazon/nova-lite-v1")]
  }),
  nova({
    id: "nova-micro",
    name: "Nova Micro",
    released: "2024-12-03",
    context: 128_000,
    output: 10_000,
    can: ["tools"],
    about: "Text model with the lowest latency of the Nova family.",
    at: [at("bedrock", "us.amazon.nova-micro-v1:0"), at("openrouter", "amazon/nova-micro-v1")]
  })
]

export const perplexityModels: ReadonlyArray<Entry> = [
  sonar({
    id: "sonar",
    name: "Sonar",
    released: "2025-01-21",
    context: 128_000,
    output: 8_192,
    can: ["vision", "json_mode", "structured_outputs"],
    about: "Small model that answers from a web search with citations.",
    at: [at("perplexity", "sonar")]
  }),
  sonar({
    id: "sonar-pro",
    name: "Sonar Pro",
    released: "2025-01-21",
    context: 200_000,
    output: 8_192,
    can: ["vision", "json_mode", "structured_outputs"],
    about: "Larger search-grounded model for questions that need several sources.",
    at: [at("perplexity", "sonar-pro")]
  }),
  sonar({
    id: "sonar-reasoning-pro",
    name: "Sonar Reasoning Pro",
    released: "2025-02-18",
    context: 128_000,
    output: 8_192,
    can: ["vision", "json_mode", "structured_outputs", "reasoning"],
    about: "Search-grounded model that reasons before it answers.",
    at: [at("perplexity", "sonar-reasoning-pro")]
  })
]
