import type { IncomingMessage } from "node:http"

/** The whole body of a request that a server on loopback received. */
export const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
