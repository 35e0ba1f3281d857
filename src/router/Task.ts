/** What a request can be about, most specific first, so that ties go to what says more. `general` is all the rest. */
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
 * What a request's words say of its task. A rule looks at the ask, the part of a text where people say what they want, or at the
 * whole of it; what all rules that match weigh together decides.
 */
export interface TaskRule {
  readonly task: Task
  readonly weight: number
  readonly in: "ask" | "text"
  readonly says: RegExp
}

/** A rule in one line. */
export const rule = (task: Task, weight: number, within: TaskRule["in"], says: RegExp): TaskRule => ({
  task,
  weight,
  in: within,
  says
})
