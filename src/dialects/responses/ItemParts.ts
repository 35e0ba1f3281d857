/** The prefixes of item ids by item type. */
const prefixes = {
  reasoning: "rs",
  message: "msg",
  function_call: "fc",
  custom_tool_call: "ctc",
  tool_search_call: "tsc"
} as const

/** The id of an item, derived from its request's id and its index, so that a replay has the same one. */
export const itemId = (type: keyof typeof prefixes, requestId: string, index: number): string =>
  `${prefixes[type]}_${requestId.slice(4)}_${index}`

/** A text part in the form of a complete answer, where a refusal is also text. */
export const outputText = (text: string) => ({ type: "output_text" as const, text, annotations: [] })

/** A reasoning item, which may lack a text or a seal. */
export const reasoningItem = <H extends object>(head: H, text: string, seal: string | undefined) => ({
  ...head,
  summary: text === "" ? [] : [{ type: "summary_text" as const, text }],
  ...(seal === undefined ? {} : { encrypted_content: seal })
})
