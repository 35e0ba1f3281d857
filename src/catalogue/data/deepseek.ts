import { at, type Entry, sampling, textModels } from "../Entry.ts"

const deepseek = textModels("deepseek", "DeepSeek", sampling.open)

const hybrid = ["tools", "json_mode", "structured_outputs", "reasoning"] as const

export const deepseekModels: ReadonlyArray<Entry> = [
  deepseek({
    id: "deepseek-v4-pro",
    name: "DeepSeek V4 Pro",
    released: "2026-04-24",
    context: 1_000_000,
    output: 384_000,
    can: hybrid,
    about: "Large open-weights mixture of experts with optional thinking and a window of a million tokens.",
    note: "DeepSeek itself charges more at its peak hours.",
    at: [
      at("deepseek", "deepseek-v4-pro"),
      at("fireworks", "accounts/fireworks/models/deepseek-v4-pro"),
      at("baseten", "deepseek-ai/DeepSeek-V4-Pro"),
      at("avian", "deepseek/deepseek-v4-pro"),
      at("openrouter", "deepseek/deepseek-v4-pro")
    ]
  }),
  deepseek({
    id: "deepseek-v4-flash",
    name: "DeepSeek V4 Flash",
    released: "2026-04-24",
    context: 1_000_000,
    output: 384_000,
    can: hybrid,
    about: "The smaller DeepSeek V4, for coding and agents at low cost.",
    note: "DeepSeek itself charges more at its peak hours.",
    at: [
      at("deepseek", "deepseek-v4-flash"),
      at("fireworks", "accounts/fireworks/models/deepseek-v4-flash"),
      at("avian", "deepseek/deepseek-v4-flash"),
      at("openrouter", "deepseek/deepseek-v4-flash")
    ]
  }),
  deepseek({
    id: "deepseek-v3.2",
    name: "DeepSeek V3.2",
    released: "2025-12-01",
    context: 163_840,
    output: 65_536,
    can: hybrid,
    about: "Open-weights model with sparse attention and optional thinking.",
    at: [
      at("fireworks", "accounts/fireworks/models/deepseek-v3p2"),
      at("avian", "deepseek/deepseek-v3.2"),
      at("openrouter", "deepseek/deepseek-v3.2")
    ]
  }),
  deepseek({
    id: "deepseek-v3-0324",
    name: "DeepSeek V3 0324",
    released: "2025-03-24",
    status: "deprecated",
    context: 163_840,
    output: 16_384,
    can: ["tools", "json_mode"],
    about: "Revision of DeepSeek V3 without thinking.",
    at: [
      at("fireworks", "accounts/fireworks/models/deepseek-v3-0324"),
      at("openrouter", "deepseek/deepseek-chat-v3-0324")
    ]
  }),
  deepseek({
    id: "deepseek-r1",
    name: "DeepSeek R1",
    released: "2025-01-20",
    context: 128_000,
    output: 32_768,
    can: ["json_mode", "reasoning"],
    about: "The open-weights reasoning model that shows its chain of thought.",
    at: [
      at("bedrock", "deepseek.r1-v1:0"),
      at("novita", "deepseek/deepseek-r1"),
      at("openrouter", "deepseek/deepseek-r1")
    ]
  }),
  deepseek({
    id: "deepseek-r1-0528",
    name: "DeepSeek R1 0528",
    released: "2025-05-28",
    context: 163_840,
    output: 32_768,
    can: ["tools", "json_mode", "reasoning"],
    about: "Revision of R1 with tool calls and longer reasoning.",
    at: [at("fireworks", "accounts/fireworks/models/deepseek-r1-0528"), at("openrouter", "deepseek/deepseek-r1-0528")]
  })
]
