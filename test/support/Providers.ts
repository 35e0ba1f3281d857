import { listedProviders } from "../../src/catalogue/Providers.ts"

/** Ids of every listed provider, for a catalogue in which each has a key: a plan for a double reaches no real host. */
export const everyProvider: ReadonlySet<string> = new Set(listedProviders.map(({ id }) => id))
