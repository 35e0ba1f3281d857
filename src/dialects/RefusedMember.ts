/** Translates the fields that providers reject into the names of the caller's dialect. */

/** A dialect's names of chat completions fields, where they differ. */
export type MemberNames = Readonly<Record<string, string>>

/** Names that providers use for fields of a chat request, by the names of chat completions. */
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
 * The field of the caller's request that a provider's path means. Indexes are omitted, because the lists sent to the provider differ
 * from the caller's.
 */
export const memberOf = (path: string, names: MemberNames = {}): string => {
  const ours = NAMES.find(([, theirs]) => theirs.test(path))?.[0] ?? path.split(/[.[]/, 1)[0] ?? path
  return names[ours] ?? ours
}

/** The names of chat completions fields in the Messages API. */
export const messagesNames: MemberNames = {
  stop: "stop_sequences",
  response_format: "output_config.format",
  reasoning: "thinking",
  user: "metadata.user_id",
  parallel_tool_calls: "tool_choice"
}

/** The names of chat completions fields in the Responses API. */
export const responsesNames: MemberNames = {
  messages: "input",
  system: "instructions",
  max_tokens: "max_output_tokens",
  response_format: "text.format",
  verbosity: "text.verbosity"
}

/** The same where system instructions are messages. */
export const chatNames: MemberNames = { system: "messages" }
