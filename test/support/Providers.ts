import { listedProviders } from "../../src/catalogue/Providers.ts"

/** The ids of all listed providers, for a catalogue in which each provider has a key. */
export const everyProvider: ReadonlySet<string> = new Set(listedProviders.map(({ id }) => id))
