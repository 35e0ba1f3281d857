/** Short names of the types of items, as their ids begin with. */
const prefixes = {
  reasoning: "rs",
  message: "msg",
  function_call: "fc",
  custom_tool_call: "ctc",
  tool_search_call: "tsc"
} as const

/** The id of an item follows from its request's and its place in the answer, so that a replay has the same. */
export const itemId = (type: keyof typeof prefixes, requestId: string, index: number): string =>
  `${prefixes[type]}_${requestId.slice(4)}_${index}`

/** An item's text, as the whole answer has it: a refusal is text there. */
export const outputText = (text: string) => ({ type: "output_text" as const, text, annotations: [] })

/** An item of reasoning, which may have no text, or no seal. */
export const reasoningItem = <H extends object>(head: H, text: string, seal: string | undefined) => ({
  ...head,
  summary: text === "" ? [] : [{ type: "summary_text" as const, text }],
  ...(seal === undefined ? {} : { encrypted_content: seal })
})
