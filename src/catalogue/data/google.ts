import { at, type Entry, sampling, textModels } from "../Entry.ts"

const gemini = textModels("google", "Google", sampling.gemini)
const gemma = textModels("google", "Google", sampling.open)

const abilities = ["tools", "vision", "json_mode", "structured_outputs", "reasoning"] as const

export const googleModels: ReadonlyArray<Entry> = [
  gemini({
    id: "gemini-3.8-flash",
    name: "Gemini 3.8 Flash",
    released: "2026-09-02",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "The latest Flash model, for agents, code and mixed media.",
    at: [at("gemini", "gemini-3.8-flash"), at("vertex", "gemini-3.8-flash")]
  }),
  gemini({
    id: "gemini-3.7-flash",
    name: "Gemini 3.7 Flash",
    released: "2026-08-12",
    status: "deprecated",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "Flash model aimed at software engineering and tool use.",
    at: [at("gemini", "gemini-3.7-flash"), at("vertex", "gemini-3.7-flash")]
  }),
  gemini({
    id: "gemini-3.6-flash",
    name: "Gemini 3.6 Flash",
    released: "2026-07-21",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "Flash model that needs fewer tokens than its predecessor for agentic work.",
    at: [at("gemini", "gemini-3.6-flash"), at("vertex", "gemini-3.6-flash")]
  }),
  gemini({
    id: "gemini-3.5-flash",
    name: "Gemini 3.5 Flash",
    released: "2026-05-19",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "Fast general model with adjustable thinking.",
    at: [at("gemini", "gemini-3.5-flash"), at("vertex", "gemini-3.5-flash")]
  }),
  gemini({
    id: "gemini-3.5-flash-lite",
    name: "Gemini 3.5 Flash-Lite",
    released: "2026-07-21",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "Low-cost Flash model for high throughput.",
    at: [at("gemini", "gemini-3.5-flash-lite"), at("vertex", "gemini-3.5-flash-lite")]
  }),
  gemini({
    id: "gemini-3.1-pro-preview",
    name: "Gemini 3.1 Pro Preview",
    released: "2026-02-19",
    status: "preview",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "Google's deep reasoning model, in preview.",
    at: [at("gemini", "gemini-3.1-pro-preview"), at("vertex", "gemini-3.1-pro-preview")]
  }),
  gemini({
    id: "gemini-3.1-flash-lite",
    name: "Gemini 3.1 Flash-Lite",
    released: "2026-05-07",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "Small Gemini 3 model for simple work in volume.",
    at: [at("gemini", "gemini-3.1-flash-lite"), at("vertex", "gemini-3.1-flash-lite")]
  }),
  gemini({
    id: "gemini-3-flash-preview",
    name: "Gemini 3 Flash Preview",
    released: "2025-12-17",
    status: "preview",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "The first Flash model of the third generation, in preview.",
    at: [at("gemini", "gemini-3-flash-preview"), at("vertex", "gemini-3-flash-preview")]
  }),
  gemini({
    id: "gemini-2.5-pro",
    name: "Gemini 2.5 Pro",
    released: "2025-06-17",
    status: "deprecated",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "Reasoning model of the second generation for code and long documents.",
    at: [at("gemini", "gemini-2.5-pro"), at("vertex", "gemini-2.5-pro")]
  }),
  gemini({
    id: "gemini-2.5-flash",
    name: "Gemini 2.5 Flash",
    released: "2025-06-17",
    status: "deprecated",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "Fast model of the second generation with optional thinking.",
    at: [at("gemini", "gemini-2.5-flash"), at("vertex", "gemini-2.5-flash")]
  }),
  gemini({
    id: "gemini-2.5-flash-lite",
    name: "Gemini 2.5 Flash-Lite",
    released: "2025-07-22",
    status: "deprecated",
    context: 1_048_576,
    output: 65_536,
    can: abilities,
    about: "The cheapest model of the second generation.",
    at: [at("gemini", "gemini-2.5-flash-lite"), at("vertex", "gemini-2.5-flash-lite")]
  }),
  gemma({
    id: "google/gemma-4-31b-it",
    name: "Gemma 4 31B",
    released: "2026-04-02",
    context: 262_144,
    output: 32_768,
    can: abilities,
    about: "Dense open-weights model that reads images and can reason.",
    at: [at("cerebras", "gemma-4-31b"), at("openrouter", "google/gemma-4-31b-it")]
  }),
  gemma({
    id: "google/gemma-4-26b-a4b-it",
    name: "Gemma 4 26B A4B",
    released: "2026-04-02",
    context: 262_144,
    output: 32_768,
    can: abilities,
    about: "Open-weights mixture of experts with four billion active parameters.",
    at: [
      at("vertex", "gemma-4-26b-a4b-it-maas"),
      at("cloudflare", "@cf/google/gemma-4-26b-a4b-it"),
      at("openrouter", "google/gemma-4-26b-a4b-it")
    ]
  }),
  gemma({
    id: "google/gemma-3-27b-it",
    name: "Gemma 3 27B",
    released: "2025-03-12",
    context: 131_072,
    output: 8_192,
    can: ["vision", "json_mode"],
    about: "Open-weights model that reads text and images in many languages.",
    at: [
      at("fireworks", "accounts/fireworks/models/gemma-3-27b-it"),
      at("bedrock", "google.gemma-3-27b-it"),
      at("openrouter", "google/gemma-3-27b-it")
    ]
  })
]
