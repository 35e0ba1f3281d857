import { at, type Entry, sampling, textModels } from "../Entry.ts"

const qwen = textModels("qwen", "Qwen", sampling.open)

const plain = ["tools", "json_mode", "structured_outputs"] as const
const reasoner = ["tools", "json_mode", "structured_outputs", "reasoning"] as const
const seeingReasoner = ["tools", "vision", "json_mode", "structured_outputs", "reasoning"] as const

/** The open models' published image cost: one token per patch of 32 pixels, up to 16,777,216 pixels. */
const PER_IMAGE = 16_384

export const qwenModels: ReadonlyArray<Entry> = [
  qwen({
    id: "qwen/qwen3.7-max",
    name: "Qwen3.7 Max",
    released: "2026-05-21",
    context: 1_000_000,
    output: 65_536,
    can: reasoner,
    about: "The largest hosted model of the Qwen3.7 series.",
    at: [at("openrouter", "qwen/qwen3.7-max")]
  }),
  qwen({
    id: "qwen/qwen3.7-plus",
    name: "Qwen3.7 Plus",
    released: "2026-06-02",
    context: 1_000_000,
    output: 64_000,
    perImage: PER_IMAGE,
    can: seeingReasoner,
    about: "Hosted Qwen model that reads images and can reason.",
    at: [at("fireworks", "accounts/fireworks/models/qwen3p7-plus"), at("openrouter", "qwen/qwen3.7-plus")]
  }),
  qwen({
    id: "qwen/qwen3.6-plus",
    name: "Qwen3.6 Plus",
    released: "2026-04-02",
    context: 1_000_000,
    output: 65_536,
    perImage: PER_IMAGE,
    can: seeingReasoner,
    about: "Earlier hosted Qwen model with a window of a million tokens.",
    at: [at("fireworks", "accounts/fireworks/models/qwen3p6-plus"), at("openrouter", "qwen/qwen3.6-plus")]
  }),
  qwen({
    id: "qwen/qwen3.5-397b-a17b",
    name: "Qwen3.5 397B A17B",
    released: "2026-02-15",
    context: 262_144,
    output: 65_536,
    perImage: PER_IMAGE,
    can: seeingReasoner,
    about: "Open-weights flagship of the Qwen3.5 series.",
    at: [at("openrouter", "qwen/qwen3.5-397b-a17b")]
  }),
  qwen({
    id: "qwen/qwen3-max",
    name: "Qwen3 Max",
    released: "2025-09-23",
    context: 262_144,
    output: 65_536,
    can: plain,
    about: "Hosted Qwen3 flagship without thinking.",
    at: [at("openrouter", "qwen/qwen3-max")]
  }),
  qwen({
    id: "qwen/qwen3-coder",
    name: "Qwen3 Coder 480B A35B",
    released: "2025-07-22",
    context: 262_144,
    output: 65_536,
    can: plain,
    about: "Open-weights mixture of experts for coding agents.",
    at: [at("bedrock", "qwen.qwen3-coder-480b-a35b-v1:0"), at("openrouter", "qwen/qwen3-coder")]
  }),
  qwen({
    id: "qwen/qwen3-coder-30b-a3b-instruct",
    name: "Qwen3 Coder 30B A3B",
    released: "2025-07-31",
    context: 262_144,
    output: 65_536,
    can: plain,
    about: "Small open-weights model for code with three billion active parameters.",
    at: [
      at("bedrock", "qwen.qwen3-coder-30b-a3b-v1:0"),
      at("ovhcloud", "Qwen3-Coder-30B-A3B-Instruct"),
      at("openrouter", "qwen/qwen3-coder-30b-a3b-instruct")
    ]
  }),
  qwen({
    id: "qwen/qwen3-vl-235b-a22b-instruct",
    name: "Qwen3 VL 235B A22B Instruct",
    released: "2025-09-23",
    context: 262_144,
    output: 32_768,
    perImage: PER_IMAGE,
    can: ["tools", "vision", "json_mode", "structured_outputs"],
    about: "Open-weights model for images, documents and user interfaces.",
    at: [at("bedrock", "qwen.qwen3-vl-235b-a22b-v1:0"), at("openrouter", "qwen/qwen3-vl-235b-a22b-instruct")]
  }),
  qwen({
    id: "qwen/qwen3-235b-a22b-2507",
    name: "Qwen3 235B A22B Instruct 2507",
    released: "2025-07-21",
    context: 262_144,
    output: 32_768,
    can: plain,
    about: "Open-weights mixture of experts that answers without thinking.",
    at: [at("openrouter", "qwen/qwen3-235b-a22b-2507")]
  }),
  qwen({
    id: "qwen/qwen3-next-80b-a3b-instruct",
    name: "Qwen3 Next 80B A3B Instruct",
    released: "2025-09-11",
    context: 262_144,
    output: 32_768,
    can: plain,
    about: "Sparse open-weights model built for long contexts.",
    at: [at("openrouter", "qwen/qwen3-next-80b-a3b-instruct")]
  }),
  qwen({
    id: "qwen/qwen3-32b",
    name: "Qwen3 32B",
    released: "2025-04-28",
    context: 131_072,
    output: 16_384,
    can: reasoner,
    about: "Dense open-weights model with optional thinking.",
    at: [
      at("groq", "qwen/qwen3-32b"),
      at("ovhcloud", "Qwen3-32B"),
      at("bedrock", "qwen.qwen3-32b-v1:0"),
      at("openrouter", "qwen/qwen3-32b", { contextWindow: 40_960 })
    ]
  })
]
