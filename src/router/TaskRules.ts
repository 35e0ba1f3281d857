import { data, extraction, summarisation, translation } from "./rules/Material.ts"
import { code, math, reasoning } from "./rules/Thought.ts"
import { general, questionAnswering, writing } from "./rules/Words.ts"
import type { TaskRule } from "./Task.ts"

/** All rules. They were written using only one half of `test/router/prompts.jsonl`. */
export const taskRules: ReadonlyArray<TaskRule> = [
  ...translation,
  ...summarisation,
  ...extraction,
  ...data,
  ...math,
  ...code,
  ...reasoning,
  ...writing,
  ...questionAnswering,
  ...general
]
