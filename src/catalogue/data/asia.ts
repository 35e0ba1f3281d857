import { at, type Entry, sampling, textModels } from "../Entry.ts"

const kimi = textModels("moonshotai", "Moonshot AI", sampling.open)
const glm = textModels("z-ai", "Z.ai", sampling.open)
const minimax = textModels("minimax", "MiniMax", sampling.open)
const xiaomi = textModels("xiaomi", "Xiaomi", sampling.open)

const reasoner = ["tools", "json_mode", "structured_outputs", "reasoning"] as const
const seeingReasoner = ["tools", "vision", "json_mode", "structured_outputs", "reasoning"] as const

export const moonshotModels: ReadonlyArray<Entry> = [
  kimi({
    id: "kimi-k3",
    name: "Kimi K3",
    released: "2026-07-16",
    context: 1_048_576,
    output: 131_072,
    can: seeingReasoner,
    about: "Open-weights flagship of Moonshot AI with native vision and a window of a million tokens.",
    at: [
      at("moonshot", "kimi-k3"),
      at("fireworks", "accounts/fireworks/models/kimi-k3"),
      at("baseten", "moonshotai/Kimi-K3"),
      at("openrouter", "moonshotai/kimi-k3")
    ]
  }),
  kimi({
    id: "kimi-k2.7-code",
    name: "Kimi K2.7 Code",
    released: "2026-06-12",
    context: 262_144,
    output: 262_144,
    can: seeingReasoner,
    sampling: ["stop"],
    about: "Kimi K2 model tuned for coding agents.",
    at: [
      at("moonshot", "kimi-k2.7-code"),
      at("fireworks", "accounts/fireworks/models/kimi-k2p7-code"),
      at("baseten", "moonshotai/Kimi-K2.7-Code"),
      at("cloudflare", "@cf/moonshotai/kimi-k2.7-code"),
      at("openrouter", "moonshotai/kimi-k2.7-code")
    ]
  }),
  kimi({
    id: "kimi-k2.6",
    name: "Kimi K2.6",
    released: "2026-04-21",
    context: 262_144,
    output: 262_144,
    can: seeingReasoner,
    about: "Open-weights agentic model that reads images and can think.",
    at: [
      at("moonshot", "kimi-k2.6"),
      at("fireworks", "accounts/fireworks/models/kimi-k2p6"),
      at("baseten", "moonshotai/Kimi-K2.6"),
      at("avian", "moonshotai/kimi-k2.6"),
      at("cloudflare", "@cf/moonshotai/kimi-k2.6"),
      at("openrouter", "moonshotai/kimi-k2.6")
    ]
  }),
  kimi({
    id: "kimi-k2.5",
    name: "Kimi K2.5",
    released: "2026-01-27",
    context: 262_144,
    output: 262_144,
    can: seeingReasoner,
    about: "The first Kimi K2 with vision.",
    at: [
      at("moonshot", "kimi-k2.5"),
      at("fireworks", "accounts/fireworks/models/kimi-k2p5"),
      at("avian", "moonshotai/kimi-k2.5"),
      at("openrouter", "moonshotai/kimi-k2.5")
    ]
  })
]

export const zaiModels: ReadonlyArray<Entry> = [
  glm({
    id: "glm-5.3",
    name: "GLM-5.3",
    released: "2026-08-19",
    context: 1_000_000,
    output: 131_072,
    can: reasoner,
    about: "Z.ai's open-weights flagship for coding and agents.",
    at: [at("zai", "glm-5.3"), at("baseten", "zai-org/GLM-5.3"), at("openrouter", "z-ai/glm-5.3")]
  }),
  glm({
    id: "glm-5.3-flash",
    name: "GLM-5.3 Flash",
    released: "2026-08-21",
    context: 1_000_000,
    output: 131_072,
    can: seeingReasoner,
    about: "Smaller GLM-5.3 that reads images and always reasons.",
    at: [
      at("zai", "glm-5.3-flash"),
      at("baseten", "zai-org/GLM-5.3-Flash"),
      at("cloudflare", "@cf/zai-org/glm-5.3-flash"),
      at("openrouter", "z-ai/glm-5.3-flash")
    ]
  }),
  glm({
    id: "glm-5.2",
    name: "GLM-5.2",
    released: "2026-06-13",
    context: 1_000_000,
    output: 131_072,
    can: reasoner,
    about: "Open-weights coding model with a window of a million tokens.",
    at: [
      at("zai", "glm-5.2"),
      at("fireworks", "accounts/fireworks/models/glm-5p2"),
      at("baseten", "zai-org/GLM-5.2"),
      at("avian", "z-ai/glm-5.2"),
      at("cloudflare", "@cf/zai-org/glm-5.2"),
      at("openrouter", "z-ai/glm-5.2")
    ]
  }),
  glm({
    id: "glm-5.1",
    name: "GLM-5.1",
    released: "2026-04-07",
    context: 200_000,
    output: 131_072,
    can: reasoner,
    about: "Open-weights model for long coding tasks.",
    at: [
      at("fireworks", "accounts/fireworks/models/glm-5p1"),
      at("avian", "z-ai/glm-5.1"),
      at("openrouter", "z-ai/glm-5.1")
    ]
  }),
  glm({
    id: "glm-4.7",
    name: "GLM-4.7",
    released: "2025-12-22",
    context: 200_000,
    output: 131_072,
    can: reasoner,
    about: "Open-weights model for coding, reasoning and agents.",
    at: [
      at("fireworks", "accounts/fireworks/models/glm-4p7"),
      at("baseten", "zai-org/GLM-4.7"),
      at("avian", "z-ai/glm-4.7"),
      at("openrouter", "z-ai/glm-4.7")
    ]
  }),
  glm({
    id: "glm-4.7-flash",
    name: "GLM-4.7 Flash",
    released: "2026-01-19",
    context: 200_000,
    output: 131_072,
    can: reasoner,
    about: "Small and cheap GLM-4.7.",
    at: [at("cloudflare", "@cf/zai-org/glm-4.7-flash"), at("openrouter", "z-ai/glm-4.7-flash")]
  })
]

export const minimaxModels: ReadonlyArray<Entry> = [
  minimax({
    id: "minimax-m3",
    name: "MiniMax M3",
    released: "2026-06-01",
    context: 1_000_000,
    output: 128_000,
    can: seeingReasoner,
    about: "Open-weights model that reads text, images and video over long contexts.",
    at: [
      at("minimax", "MiniMax-M3"),
      at("fireworks", "accounts/fireworks/models/minimax-m3"),
      at("openrouter", "minimax/minimax-m3")
    ]
  }),
  minimax({
    id: "minimax-m2.7",
    name: "MiniMax M2.7",
    released: "2026-03-18",
    context: 204_800,
    output: 131_072,
    can: reasoner,
    about: "Open-weights model for coding and office work.",
    at: [
      at("minimax", "MiniMax-M2.7"),
      at("fireworks", "accounts/fireworks/models/minimax-m2p7"),
      at("openrouter", "minimax/minimax-m2.7")
    ]
  }),
  minimax({
    id: "minimax-m2.5",
    name: "MiniMax M2.5",
    released: "2026-02-12",
    context: 204_800,
    output: 131_072,
    can: reasoner,
    about: "Earlier open-weights model for coding agents.",
    at: [at("minimax", "MiniMax-M2.5"), at("avian", "minimax/minimax-m2.5"), at("openrouter", "minimax/minimax-m2.5")]
  })
]

export const xiaomiModels: ReadonlyArray<Entry> = [
  xiaomi({
    id: "xiaomi/mimo-v2.5-pro",
    name: "MiMo V2.5 Pro",
    released: "2026-04-22",
    context: 1_000_000,
    output: 131_072,
    can: reasoner,
    about: "Open-weights reasoning model with a window of a million tokens.",
    at: [at("avian", "xiaomi/mimo-v2.5-pro"), at("openrouter", "xiaomi/mimo-v2.5-pro")]
  }),
  xiaomi({
    id: "xiaomi/mimo-v2.5",
    name: "MiMo V2.5",
    released: "2026-04-22",
    context: 1_000_000,
    output: 131_072,
    can: seeingReasoner,
    about: "The smaller MiMo V2.5, which also reads images.",
    at: [at("avian", "xiaomi/mimo-v2.5"), at("openrouter", "xiaomi/mimo-v2.5")]
  })
]
