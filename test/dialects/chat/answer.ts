import { emptyOutput, type Output } from "../../../src/domain/Output.ts"
import type { Answer } from "../../../src/domain/Answer.ts"

/** Returns a paid answer with this output. */
export const answerWith = (output: Partial<Output>, more: Partial<Answer> = {}): Answer => ({
  requestId: "req_01ARZ3NDEKTSV4RRFFQ69G5FAV",
  created: 1_700_000_000,
  model: "gpt-4o,gpt-4o-mini",
  resolvedModel: "gpt-4o",
  provider: "openai",
  output: { ...emptyOutput, ...output },
  usage: { input: 7, cached: 2, cacheWrite: 1, output: 5, reasoning: 3 },
  cost: 1_234_567n,
  routing: {
    strategy: "balanced",
    requested_models: ["gpt-4o", "gpt-4o-mini"],
    resolved_model: "gpt-4o",
    provider: "openai",
    provider_attempts: [{ provider: "openai", outcome: "served", attempt_index: 0 }],
    fallbacks_allowed: true,
    data_policy: "default",
    source: "default"
  },
  balanceWarning: undefined,
  ...more
})
