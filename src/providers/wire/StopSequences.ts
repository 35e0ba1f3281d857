import type { Sampling } from "../../domain/Conversation.ts"

/** The non-empty stop sequences; undefined when there are none. Hosts reject an empty sequence, and an empty list. */
export const stopSequencesOf = ({ stop }: Sampling): ReadonlyArray<string> | undefined => {
  const sequences = stop?.filter((text) => text !== "") ?? []
  return sequences.length === 0 ? undefined : sequences
}
