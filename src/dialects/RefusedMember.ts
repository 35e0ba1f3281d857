/** Members that providers refuse, in the words of the caller's dialect. */

/** By the names of chat completions: what a dialect calls a member, where it is something else. */
export type MemberNames = Readonly<Record<string, string>>

/** Names that providers have for members of a chat request, by those of chat completions. */
const NAMES: ReadonlyArray<readonly [ours: string, theirs: RegExp]> = [
  ["response_format", /^(?:text|output_config)\.format|^response_?(?:format|json_?schema|schema|mime_?type)/i],
  ["verbosity", /^(?:text\.)?verbosity/],
  ["reasoning", /^(?:reasoning|thinking|output_config|enable_thinking|chat_template_kwargs)/i],
  ["tool_choice", /^tool_?(?:choice|config)/i],
  ["parallel_tool_calls", /^(?:parallel_tool_calls|disable_parallel)/],
  ["tools", /^(?:tools|function_?declarations)/i],
  ["messages", /^(?:messages|contents?|input|prompt)\b/],
  ["system", /^(?:system|instructions)/],
  ["max_tokens", /^max_?(?:completion_?|output_?|new_?)?tokens/i],
  ["stop", /^stop/],
  ["top_p", /^top_?p$/i],
  ["top_k", /^top_?k$/i],
  ["seed", /^(?:random_)?seed$/],
  ["frequency_penalty", /^frequency_?penalty/i],
  ["presence_penalty", /^presence_?penalty/i],
  ["user", /^(?:user|safety_identifier|metadata\.user_id)/]
]

/**
 * The member of the caller's request that a provider means by its own path. Places within lists are left out: what goes upstream
 * has other lists than the caller's.
 */
export const memberOf = (path: string, names: MemberNames = {}): string => {
  const ours = NAMES.find(([, theirs]) => theirs.test(path))?.[0] ?? path.split(/[.[]/, 1)[0] ?? path
  return names[ours] ?? ours
}

/** What the members of chat completions are called on messages. */
export const messagesNames: MemberNames = {
  stop: "stop_sequences",
  response_format: "output_config.format",
  reasoning: "thinking",
  user: "metadata.user_id",
  parallel_tool_calls: "tool_choice"
}

/** The same on responses. */
export const responsesNames: MemberNames = {
  messages: "input",
  system: "instructions",
  max_tokens: "max_output_tokens",
  response_format: "text.format",
  verbosity: "text.verbosity"
}

/** The same where the system's words are messages. */
export const chatNames: MemberNames = { system: "messages" }
