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

const judged = (grade: Grade, at: ReadonlyArray<Strength> = [], notAt: ReadonlyArray<Strength> = []): Judgement => ({
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
    "gpt-6-astra": judged(5, [...agents, ...thinking]),
    "gpt-6-sol": judged(5, agents),
    "gpt-6-luna": judged(3, volume, thinking),
    "gpt-5.6-sol": judged(5, ["data", "reasoning"]),
    "gpt-5.6-terra": judged(4, ["data"]),
    "gpt-5.6-luna": judged(3),
    "gpt-5.5": judged(4, thinking),
    "gpt-5.4": judged(4),
    "gpt-5.4-mini": judged(3, agents),
    "gpt-5.4-nano": judged(2, volume),
    "gpt-5.2": judged(4, agents),
    "gpt-5.1": judged(4),
    "gpt-5": judged(4),
    "gpt-5-mini": judged(3, ["data"]),
    "gpt-5-nano": judged(2, volume),
    o3: judged(3, [...thinking, "code"], ["writing", "general"]),
    "o4-mini": judged(3, ["math"], ["writing", "general"]),
    "gpt-4.1": judged(3, ["code", "extraction"]),
    "gpt-4.1-mini": judged(3, ["extraction"], thinking),
    "gpt-4.1-nano": judged(2, ["extraction"], thinking),
    "gpt-4o": judged(3, ["vision", "writing", "multilingual"], thinking),
    "gpt-4o-mini": judged(2, ["general", "translation"]),
    "claude-fable-5-1": judged(5, [...agents, ...thinking, "writing"]),
    "claude-fable-5": judged(5, [...thinking, "writing"]),
    "claude-opus-5-5": judged(5, [...agents, "writing"]),
    "claude-opus-5": judged(5, [...agents, "writing"]),
    "claude-opus-4-8": judged(5, ["writing"]),
    "claude-opus-4-7": judged(4, [...agents, ...thinking, "writing"]),
    "claude-opus-4-6": judged(4, [...agents, "writing"]),
    "claude-opus-4-5": judged(4, [...agents, "writing"]),
    "claude-sonnet-5": judged(4, [...agents, "writing"]),
    "claude-sonnet-4-6": judged(4, ["writing"]),
    "claude-sonnet-4-5": judged(4, [...agents, "writing"]),
    "claude-haiku-4-5": judged(3, ["tool_use", "writing"]),
    "gemini-3.8-flash": judged(4, [...agents, "vision", "multilingual"]),
    "gemini-3.6-flash": judged(3, ["tool_use", "vision", "multilingual"]),
    "gemini-3.5-flash": judged(3, ["vision", "multilingual", "translation"]),
    "gemini-3.5-flash-lite": judged(3, ["vision", "translation"], thinking),
    "gemini-3.1-flash-lite": judged(2, [...volume, "translation", "multilingual"]),
    "google/gemma-4-31b-it": judged(3, ["multilingual", "translation"]),
    "google/gemma-4-26b-a4b-it": judged(2, ["multilingual", "translation"]),
    "google/gemma-3-27b-it": judged(2, ["multilingual", "translation", "vision"]),
    "grok-4.6": judged(5, ["code"]),
    "grok-4.5": judged(4, thinking),
    "grok-4.3": judged(4),
    "grok-4.20": judged(3, ["tool_use"]),
    "deepseek-v4-pro": judged(4, thinking),
    "deepseek-v4-flash": judged(3, agents),
    "deepseek-v3.2": judged(3, ["reasoning"]),
    "deepseek-r1": judged(2, thinking, ["writing", "general"]),
    "deepseek-r1-0528": judged(3, thinking, ["writing", "general"]),
    "mistral-large-2512": judged(3, ["multilingual", "translation", "writing"]),
    "mistral-medium-3-5": judged(3, ["multilingual"]),
    "mistral-medium-3-1": judged(3, ["multilingual"], thinking),
    "mistral-small-2603": judged(2, ["multilingual", "translation"]),
    "mistral-small-3.2": judged(2, ["multilingual"]),
    "ministral-14b-2512": judged(2),
    "codestral-2508": judged(3, ["code"], proseless),
    "devstral-2512": judged(3, agents, proseless),
    "mistral-nemo": judged(1, ["multilingual"]),
    "meta-llama/llama-4-maverick": judged(2, ["vision"]),
    "meta-llama/llama-4-scout": judged(2),
    "meta-llama/llama-3.3-70b-instruct": judged(2, ["general"]),
    "qwen/qwen3.7-max": judged(4, ["multilingual", "translation"]),
    "qwen/qwen3.7-plus": judged(3, ["multilingual", "vision", "translation"]),
    "qwen/qwen3.6-plus": judged(3, ["multilingual"]),
    "qwen/qwen3.5-397b-a17b": judged(3, ["multilingual"]),
    "qwen/qwen3-max": judged(3, ["multilingual", "translation"]),
    "qwen/qwen3-coder": judged(3, agents, proseless),
    "qwen/qwen3-coder-30b-a3b-instruct": judged(2, ["code"], proseless),
    "qwen/qwen3-vl-235b-a22b-instruct": judged(3, ["vision", "extraction"]),
    "qwen/qwen3-235b-a22b-2507": judged(2, ["multilingual"]),
    "qwen/qwen3-next-80b-a3b-instruct": judged(2, ["summarisation"]),
    "qwen/qwen3-32b": judged(2, ["multilingual"]),
    "kimi-k3": judged(4, [...agents, "writing"]),
    "kimi-k2.7-code": judged(4, agents, proseless),
    "kimi-k2.6": judged(3, ["tool_use", "writing"]),
    "kimi-k2.5": judged(3, ["writing"]),
    "glm-5.3": judged(4, agents),
    "glm-5.3-flash": judged(3, ["tool_use"]),
    "glm-5.2": judged(4, ["code"]),
    "glm-5.1": judged(3, ["code"]),
    "glm-4.7": judged(3, agents),
    "glm-4.7-flash": judged(2, ["code"]),
    "minimax-m3": judged(3, ["summarisation", "vision"]),
    "minimax-m2.7": judged(3, ["code", "data"]),
    "minimax-m2.5": judged(2, agents),
    "openai/gpt-oss-120b": judged(3, thinking, ["multilingual", "writing"]),
    "openai/gpt-oss-20b": judged(2, ["math"], ["multilingual", "writing"]),
    "nova-2-lite": judged(3, ["vision"]),
    "nova-premier": judged(3),
    "nova-pro": judged(2, ["vision", ...retrieval]),
    "nova-lite": judged(1, ["vision", ...volume]),
    "command-a": judged(3, ["multilingual", ...retrieval], [...thinking, "code"]),
    "command-r-plus-08-2024": judged(2, retrieval, [...thinking, "code"]),
    "command-r-08-2024": judged(1, retrieval),
    sonar: judged(2, ["question_answering"], ["code", "math", "writing"]),
    "sonar-pro": judged(3, ["question_answering"], ["code", "math", "writing"]),
    "sonar-reasoning-pro": judged(3, ["question_answering"], ["code", "writing"]),
    "nvidia/nemotron-3-ultra-550b-a55b": judged(3, ["tool_use", ...thinking]),
    "nvidia/nemotron-3-super-120b-a12b": judged(2, ["tool_use", ...thinking]),
    "microsoft/phi-4": judged(1, thinking),
    "xiaomi/mimo-v2.5-pro": judged(3, thinking),
    "xiaomi/mimo-v2.5": judged(2)
  })
)

/** The IDs of the listed models. */
export const judgedModels: ReadonlySet<string> = new Set(judgements.keys())

/** Returns the grade of a model for a task, from 0 to 6. Models that are not listed have grade 1. */
export const strengthOf = (model: string, strength: Strength): number => {
  const { at, grade, notAt } = judgements.get(model) ?? unjudged
  return grade + (at.includes(strength) ? 1 : 0) - (notAt.includes(strength) ? 1 : 0)
}
