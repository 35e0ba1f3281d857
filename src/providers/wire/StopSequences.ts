import type { Sampling } from "../../domain/Conversation.ts"

/** The non-empty stop sequences. Hosts reject an empty one, and an empty list. */
export const saidStops = ({ stop }: Sampling): ReadonlyArray<string> | undefined => {
  const said = stop?.filter((text) => text !== "") ?? []
  return said.length === 0 ? undefined : said
}
