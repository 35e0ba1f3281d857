import { at, type Entry, sampling, textModels } from "../Entry.ts"

const claude = textModels("anthropic", "Anthropic", sampling.anthropic)

const abilities = ["tools", "vision", "structured_outputs", "reasoning"] as const

export const anthropicModels: ReadonlyArray<Entry> = [
  claude({
    id: "claude-fable-5-1",
    name: "Claude Fable 5.1",
    released: "2026-09-01",
    context: 1_000_000,
    output: 128_000,
    can: abilities,
    sampling: ["stop"],
    about: "Anthropic's most capable generally available model, for long agentic work and hard reasoning.",
    at: [
      at("anthropic", "claude-fable-5-1"),
      at("bedrock", "global.anthropic.claude-fable-5-1-v1:0"),
      at("vertex", "claude-fable-5-1"),
      at("openrouter", "anthropic/claude-fable-5.1")
    ]
  }),
  claude({
    id: "claude-fable-5",
    name: "Claude Fable 5",
    released: "2026-06-09",
    context: 1_000_000,
    output: 128_000,
    can: abilities,
    sampling: ["stop"],
    about: "The first Fable model, for demanding reasoning over long horizons.",
    at: [
      at("anthropic", "claude-fable-5"),
      at("bedrock", "global.anthropic.claude-fable-5-v1:0"),
      at("vertex", "claude-fable-5"),
      at("openrouter", "anthropic/claude-fable-5")
    ]
  }),
  claude({
    id: "claude-opus-5-5",
    name: "Claude Opus 5.5",
    released: "2026-09-22",
    context: 1_000_000,
    output: 128_000,
    can: abilities,
    sampling: ["stop"],
    about: "Opus model for long-running coding and knowledge work that always thinks before it answers.",
    at: [
      at("anthropic", "claude-opus-5-5"),
      at("bedrock", "global.anthropic.claude-opus-5-5"),
      at("vertex", "claude-opus-5-5"),
      at("openrouter", "anthropic/claude-opus-5.5")
    ]
  }),
  claude({
    id: "claude-opus-5",
    name: "Claude Opus 5",
    released: "2026-07-24",
    context: 1_000_000,
    output: 128_000,
    can: abilities,
    sampling: ["stop"],
    about: "Opus model for agentic coding and enterprise work with thinking on by default.",
    at: [
      at("anthropic", "claude-opus-5"),
      at("bedrock", "global.anthropic.claude-opus-5"),
      at("vertex", "claude-opus-5"),
      at("openrouter", "anthropic/claude-opus-5")
    ]
  }),
  claude({
    id: "claude-opus-4-8",
    name: "Claude Opus 4.8",
    released: "2026-05-28",
    context: 1_000_000,
    output: 128_000,
    can: abilities,
    sampling: ["stop"],
    about: "The last Opus of the fourth generation.",
    at: [
      at("anthropic", "claude-opus-4-8"),
      at("bedrock", "global.anthropic.claude-opus-4-8-v1:0"),
      at("vertex", "claude-opus-4-8"),
      at("openrouter", "anthropic/claude-opus-4.8")
    ]
  }),
  claude({
    id: "claude-opus-4-7",
    name: "Claude Opus 4.7",
    released: "2026-04-16",
    context: 1_000_000,
    output: 128_000,
    can: abilities,
    sampling: ["stop"],
    about: "Opus model for complex reasoning and agentic coding with a flat price over a million tokens.",
    at: [
      at("anthropic", "claude-opus-4-7"),
      at("bedrock", "global.anthropic.claude-opus-4-7-v1:0"),
      at("vertex", "claude-opus-4-7"),
      at("openrouter", "anthropic/claude-opus-4.7")
    ]
  }),
  claude({
    id: "claude-opus-4-6",
    name: "Claude Opus 4.6",
    released: "2026-02-05",
    context: 1_000_000,
    output: 128_000,
    can: abilities,
    about: "Opus model for agents and coding that introduced adaptive thinking.",
    at: [
      at("anthropic", "claude-opus-4-6"),
      at("bedrock", "global.anthropic.claude-opus-4-6-v1:0"),
      at("vertex", "claude-opus-4-6"),
      at("openrouter", "anthropic/claude-opus-4.6")
    ]
  }),
  claude({
    id: "claude-opus-4-5",
    name: "Claude Opus 4.5",
    released: "2025-11-24",
    context: 200_000,
    output: 64_000,
    can: abilities,
    about: "Opus model for coding, agents and computer use.",
    at: [
      at("anthropic", "claude-opus-4-5"),
      at("bedrock", "global.anthropic.claude-opus-4-5-v1:0"),
      at("vertex", "claude-opus-4-5@20251101"),
      at("openrouter", "anthropic/claude-opus-4.5")
    ]
  }),
  claude({
    id: "claude-opus-4-1",
    name: "Claude Opus 4.1",
    released: "2025-08-05",
    status: "deprecated",
    context: 200_000,
    output: 32_000,
    can: abilities,
    about: "Older Opus model for long coding tasks.",
    at: [at("anthropic", "claude-opus-4-1"), at("bedrock", "us.anthropic.claude-opus-4-1-20250805-v1:0")]
  }),
  claude({
    id: "claude-sonnet-5",
    name: "Claude Sonnet 5",
    released: "2026-06-30",
    context: 1_000_000,
    output: 128_000,
    can: abilities,
    sampling: ["stop"],
    about: "Sonnet model that balances speed and capability for agents.",
    at: [
      at("anthropic", "claude-sonnet-5"),
      at("bedrock", "global.anthropic.claude-sonnet-5-v1:0"),
      at("vertex", "claude-sonnet-5"),
      at("openrouter", "anthropic/claude-sonnet-5")
    ]
  }),
  claude({
    id: "claude-sonnet-4-6",
    name: "Claude Sonnet 4.6",
    released: "2026-02-17",
    context: 1_000_000,
    output: 64_000,
    can: abilities,
    about: "Sonnet model with a window of a million tokens at a flat price.",
    at: [
      at("anthropic", "claude-sonnet-4-6"),
      at("bedrock", "global.anthropic.claude-sonnet-4-6-v1:0"),
      at("vertex", "claude-sonnet-4-6"),
      at("openrouter", "anthropic/claude-sonnet-4.6")
    ]
  }),
  claude({
    id: "claude-sonnet-4-5",
    name: "Claude Sonnet 4.5",
    released: "2025-09-29",
    context: 200_000,
    output: 64_000,
    can: abilities,
    about: "Sonnet model for coding and agents.",
    at: [
      at("anthropic", "claude-sonnet-4-5"),
      at("bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0"),
      at("vertex", "claude-sonnet-4-5@20250929"),
      at("openrouter", "anthropic/claude-sonnet-4.5")
    ]
  }),
  claude({
    id: "claude-haiku-4-5",
    name: "Claude Haiku 4.5",
    released: "2025-10-15",
    context: 200_000,
    output: 64_000,
    can: abilities,
    about: "Anthropic's fast and low-cost model of the 4.5 generation.",
    at: [
      at("anthropic", "claude-haiku-4-5"),
      at("bedrock", "global.anthropic.claude-haiku-4-5-20251001-v1:0"),
      at("vertex", "claude-haiku-4-5@20251001"),
      at("openrouter", "anthropic/claude-haiku-4.5")
    ]
  })
]
