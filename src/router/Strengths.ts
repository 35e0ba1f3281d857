/**
 * The strengths of each model, in our judgement. They follow from a model's place in its vendor's line and its vendor's stated
 * purpose for it. No figure here was measured or comes from a benchmark.
 */
import type { Task } from "./Task.ts"

/** A task, or a requirement that applies beside the task. */
export type Strength = Task | "multilingual"

/** From 1 (very small or not judged) to 5 (the largest and newest of a leading vendor). */
export type Grade = 1 | 2 | 3 | 4 | 5

interface Judgement {
  readonly grade: Grade
  /** Tasks that the model does one grade better. */
  readonly at: ReadonlyArray<Strength>
  /** Tasks that the model does one grade worse. */
  readonly notAt: ReadonlyArray<Strength>
}

/** Applies to models that are not listed. The router expects little of them. */
const unjudged: Judgement = { grade: 1, at: [], notAt: [] }

const judgement = (grade: Grade, at: ReadonlyArray<Strength> = [], notAt: ReadonlyArray<Strength> = []): Judgement => ({
  grade,
  at,
  notAt
})

const volume = ["extraction", "summarisation"] as const
const agents = ["code", "tool_use"] as const
const thinking = ["reasoning", "math"] as const
const retrieval = ["extraction", "summarisation", "question_answering"] as const
const proseless = ["writing", "translation", "general", "question_answering", "multilingual"] as const

const judgements: ReadonlyMap<string, Judgement> = new Map(
  Object.entries({
    "gpt-6-astra": judgement(5, [...agents, ...thinking]),
    "gpt-6-sol": judgement(5, agents),
    "gpt-6-luna": judgement(3, volume, thinking),
    "gpt-5.6-sol": judgement(5, ["data", "reasoning"]),
    "gpt-5.6-terra": judgement(4, ["data"]),
    "gpt-5.6-luna": judgement(3),
    "gpt-5.5": judgement(4, thinking),
    "gpt-5.4": judgement(4),
    "gpt-5.4-mini": judgement(3, agents),
    "gpt-5.4-nano": judgement(2, volume),
    "gpt-5.2": judgement(4, agents),
    "gpt-5.1": judgement(4),
    "gpt-5": judgement(4),
    "gpt-5-mini": judgement(3, ["data"]),
    "gpt-5-nano": judgement(2, volume),
    o3: judgement(3, [...thinking, "code"], ["writing", "general"]),
    "o4-mini": judgement(3, ["math"], ["writing", "general"]),
    "gpt-4.1": judgement(3, ["code", "extraction"]),
    "gpt-4.1-mini": judgement(3, ["extraction"], thinking),
    "gpt-4.1-nano": judgement(2, ["extraction"], thinking),
    "gpt-4o": judgement(3, ["vision", "writing", "multilingual"], thinking),
    "gpt-4o-mini": judgement(2, ["general", "translation"]),
    "claude-fable-5-1": judgement(5, [...agents, ...thinking, "writing"]),
    "claude-fable-5": judgement(5, [...thinking, "writing"]),
    "claude-opus-5-5": judgement(5, [...agents, "writing"]),
    "claude-opus-5": judgement(5, [...agents, "writing"]),
    "claude-opus-4-8": judgement(5, ["writing"]),
    "claude-opus-4-7": judgement(4, [...agents, ...thinking, "writing"]),
    "claude-opus-4-6": judgement(4, [...agents, "writing"]),
    "claude-opus-4-5": judgement(4, [...agents, "writing"]),
    "claude-sonnet-5": judgement(4, [...agents, "writing"]),
    "claude-sonnet-4-6": judgement(4, ["writing"]),
    "claude-sonnet-4-5": judgement(4, [...agents, "writing"]),
    "claude-haiku-4-5": judgement(3, ["tool_use", "writing"]),
    "gemini-3.8-flash": judgement(4, [...agents, "vision", "multilingual"]),
    "gemini-3.6-flash": judgement(3, ["tool_use", "vision", "multilingual"]),
    "gemini-3.5-flash": judgement(3, ["vision", "multilingual", "translation"]),
    "gemini-3.5-flash-lite": judgement(3, ["vision", "translation"], thinking),
    "gemini-3.1-flash-lite": judgement(2, [...volume, "translation", "multilingual"]),
    "google/gemma-4-31b-it": judgement(3, ["multilingual", "translation"]),
    "google/gemma-4-26b-a4b-it": judgement(2, ["multilingual", "translation"]),
    "google/gemma-3-27b-it": judgement(2, ["multilingual", "translation", "vision"]),
    "grok-4.6": judgement(5, ["code"]),
    "grok-4.5": judgement(4, thinking),
    "grok-4.3": judgement(4),
    "grok-4.20": judgement(3, ["tool_use"]),
    "deepseek-v4-pro": judgement(4, thinking),
    "deepseek-v4-flash": judgement(3, agents),
    "deepseek-v3.2": judgement(3, ["reasoning"]),
    "deepseek-r1": judgement(2, thinking, ["writing", "general"]),
    "deepseek-r1-0528": judgement(3, thinking, ["writing", "general"]),
    "mistral-large-2512": judgement(3, ["multilingual", "translation", "writing"]),
    "mistral-medium-3-5": judgement(3, ["multilingual"]),
    "mistral-medium-3-1": judgement(3, ["multilingual"], thinking),
    "mistral-small-2603": judgement(2, ["multilingual", "translation"]),
    "mistral-small-3.2": judgement(2, ["multilingual"]),
    "ministral-14b-2512": judgement(2),
    "codestral-2508": judgement(3, ["code"], proseless),
    "devstral-2512": judgement(3, agents, proseless),
    "mistral-nemo": judgement(1, ["multilingual"]),
    "meta-llama/llama-4-maverick": judgement(2, ["vision"]),
    "meta-llama/llama-4-scout": judgement(2),
    "meta-llama/llama-3.3-70b-instruct": judgement(2, ["general"]),
    "qwen/qwen3.7-max": judgement(4, ["multilingual", "translation"]),
    "qwen/qwen3.7-plus": judgement(3, ["multilingual", "vision", "translation"]),
    "qwen/qwen3.6-plus": judgement(3, ["multilingual"]),
    "qwen/qwen3.5-397b-a17b": judgement(3, ["multilingual"]),
    "qwen/qwen3-max": judgement(3, ["multilingual", "translation"]),
    "qwen/qwen3-coder": judgement(3, agents, proseless),
    "qwen/qwen3-coder-30b-a3b-instruct": judgement(2, ["code"], proseless),
    "qwen/qwen3-vl-235b-a22b-instruct": judgement(3, ["vision", "extraction"]),
    "qwen/qwen3-235b-a22b-2507": judgement(2, ["multilingual"]),
    "qwen/qwen3-next-80b-a3b-instruct": judgement(2, ["summarisation"]),
    "qwen/qwen3-32b": judgement(2, ["multilingual"]),
    "kimi-k3": judgement(4, [...agents, "writing"]),
    "kimi-k2.7-code": judgement(4, agents, proseless),
    "kimi-k2.6": judgement(3, ["tool_use", "writing"]),
    "kimi-k2.5": judgement(3, ["writing"]),
    "glm-5.3": judgement(4, agents),
    "glm-5.3-flash": judgement(3, ["tool_use"]),
    "glm-5.2": judgement(4, ["code"]),
    "glm-5.1": judgement(3, ["code"]),
    "glm-4.7": judgement(3, agents),
    "glm-4.7-flash": judgement(2, ["code"]),
    "minimax-m3": judgement(3, ["summarisation", "vision"]),
    "minimax-m2.7": judgement(3, ["code", "data"]),
    "minimax-m2.5": judgement(2, agents),
    "openai/gpt-oss-120b": judgement(3, thinking, ["multilingual", "writing"]),
    "openai/gpt-oss-20b": judgement(2, ["math"], ["multilingual", "writing"]),
    "nova-2-lite": judgement(3, ["vision"]),
    "nova-premier": judgement(3),
    "nova-pro": judgement(2, ["vision", ...retrieval]),
    "nova-lite": judgement(1, ["vision", ...volume]),
    "command-a": judgement(3, ["multilingual", ...retrieval], [...thinking, "code"]),
    "command-r-plus-08-2024": judgement(2, retrieval, [...thinking, "code"]),
    "command-r-08-2024": judgement(1, retrieval),
    sonar: judgement(2, ["question_answering"], ["code", "math", "writing"]),
    "sonar-pro": judgement(3, ["question_answering"], ["code", "math", "writing"]),
    "sonar-reasoning-pro": judgement(3, ["question_answering"], ["code", "writing"]),
    "nvidia/nemotron-3-ultra-550b-a55b": judgement(3, ["tool_use", ...thinking]),
    "nvidia/nemotron-3-super-120b-a12b": judgement(2, ["tool_use", ...thinking]),
    "microsoft/phi-4": judgement(1, thinking),
    "xiaomi/mimo-v2.5-pro": judgement(3, thinking),
    "xiaomi/mimo-v2.5": judgement(2)
  })
)

/** The IDs of the listed models. */
export const judgedModels: ReadonlySet<string> = new Set(judgements.keys())

/** Returns the grade of a model for a task, from 0 to 6. Models that are not listed have grade 1. */
export const strengthOf = (model: string, strength: Strength): number => {
  const { at, grade, notAt } = judgements.get(model) ?? unjudged
  return grade + (at.includes(strength) ? 1 : 0) - (notAt.includes(strength) ? 1 : 0)
}
