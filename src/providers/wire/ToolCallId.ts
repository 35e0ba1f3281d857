/** An id for a tool call without an id from its host. It is the same for the same request and index. */
export const toolCallId = (requestId: string, index: number): string =>
  `call_${requestId.replaceAll(/[^A-Za-z0-9]/g, "").slice(-24)}_${index}`
