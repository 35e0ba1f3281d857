import { at, type Entry, sampling, textModels } from "../Entry.ts"

const grok = textModels("xai", "xAI", sampling.xai)

const abilities = ["tools", "vision", "json_mode", "structured_outputs", "reasoning"] as const
const textOnly = ["tools", "json_mode", "structured_outputs", "reasoning"] as const

export const xaiModels: ReadonlyArray<Entry> = [
  grok({
    id: "grok-4.6",
    name: "Grok 4.6",
    released: "2026-08-12",
    context: 500_000,
    output: 30_000,
    can: abilities,
    about: "xAI's flagship for coding, agents and knowledge work.",
    at: [at("xai", "grok-4.6"), at("azure", "grok-4.6")]
  }),
  grok({
    id: "grok-4.5",
    name: "Grok 4.5",
    released: "2026-07-09",
    context: 500_000,
    output: 30_000,
    can: abilities,
    about: "Reasoning model with three levels of effort.",
    at: [at("xai", "grok-4.5"), at("azure", "grok-4.5")]
  }),
  grok({
    id: "grok-4.3",
    name: "Grok 4.3",
    released: "2026-04-30",
    context: 1_000_000,
    output: 30_000,
    can: abilities,
    about: "Reasoning model with a window of a million tokens.",
    at: [at("xai", "grok-4.3"), at("azure", "grok-4.3"), at("openrouter", "x-ai/grok-4.3")]
  }),
  grok({
    id: "grok-4.20",
    name: "Grok 4.20",
    released: "2026-03-09",
    context: 1_000_000,
    output: 30_000,
    can: abilities,
    about: "Fast reasoning model aimed at tool calling.",
    at: [at("xai", "grok-4.20"), at("azure", "grok-4.20"), at("openrouter", "x-ai/grok-4.20")]
  }),
  grok({
    id: "grok-build-0.1",
    name: "Grok Build 0.1",
    released: "2026-04-16",
    status: "preview",
    context: 256_000,
    output: 30_000,
    can: abilities,
    about: "Model for agentic coding, in preview.",
    at: [at("xai", "grok-build-0.1"), at("openrouter", "x-ai/grok-build-0.1")]
  }),
  grok({
    id: "grok-4",
    name: "Grok 4",
    released: "2025-07-09",
    status: "deprecated",
    context: 256_000,
    output: 30_000,
    can: abilities,
    about: "The first Grok 4, always reasoning.",
    at: [at("xai", "grok-4-0709"), at("azure", "grok-4-0709")]
  }),
  grok({
    id: "grok-code-fast-1",
    name: "Grok Code Fast 1",
    released: "2025-08-28",
    status: "deprecated",
    context: 256_000,
    output: 10_000,
    can: textOnly,
    about: "Small reasoning model for coding agents.",
    at: [at("xai", "grok-code-fast-1"), at("openrouter", "x-ai/grok-code-fast-1")]
  })
]
