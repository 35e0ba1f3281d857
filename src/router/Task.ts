/** The tasks of requests, most specific first, so that ties go to the more specific task. `general` covers the rest. */
export const TASKS = [
  "vision",
  "tool_use",
  "translation",
  "summarisation",
  "extraction",
  "data",
  "math",
  "code",
  "reasoning",
  "writing",
  "question_answering",
  "general"
] as const

export type Task = (typeof TASKS)[number]

/**
 * A rule that recognizes a task by a request's words. It reads either the ask, the part where people say what they want, or the
 * whole text. The task with the highest total weight wins.
 */
export interface TaskRule {
  readonly task: Task
  readonly weight: number
  readonly in: "ask" | "text"
  readonly says: RegExp
}

/** Creates a rule. */
export const rule = (task: Task, weight: number, within: TaskRule["in"], says: RegExp): TaskRule => ({
  task,
  weight,
  in: within,
  says
})
