import { Schema } from "effect"
import type { ProviderInfo } from "../domain/Model.ts"
import providers from "./data/providers.json" with { type: "json" }
import { contentOf } from "./Entry.ts"

/** A provider of the built-in catalogue. */
export interface ListedProvider extends ProviderInfo {
  /** Its ID in the published price list; absent when the list does not know it. */
  readonly pricedAs: string | undefined
}

const ProviderForm = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  pricedAs: Schema.optionalKey(Schema.NonEmptyString),
  /** A provider counts as training on data unless its terms exclude that for API content. */
  trainsOnData: Schema.optionalKey(Schema.Literal(true)),
  /** A provider counts as retaining data unless it stores none by default or lets every account turn retention off. */
  zeroRetention: Schema.optionalKey(Schema.Literal(true))
})

const decode = Schema.decodeUnknownResult(Schema.Array(ProviderForm), { onExcessProperty: "error" })

/** All listed providers, of `data/providers.json`. */
export const listedProviders: ReadonlyArray<ListedProvider> = contentOf("providers.json", decode(providers)).map(
  ({ id, name, pricedAs, trainsOnData = false, zeroRetention = false }) => ({
    id,
    name,
    pricedAs,
    trainsOnData,
    zeroRetention
  })
)
