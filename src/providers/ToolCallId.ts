/** An id for a tool call whose host gave none: the same for the same request and place. */
export const toolCallId = (requestId: string, index: number): string =>
  `call_${requestId.replaceAll(/[^A-Za-z0-9]/g, "").slice(-24)}_${index}`
