import type { Snapshot } from "../catalogue/Snapshot.ts"
import { nearest } from "../catalogue/Nearest.ts"
import { type Failure, failure } from "../domain/Failure.ts"
import type { Modality } from "../domain/Model.ts"

/** The failure of a request for a model that the catalogue does not have, with the nearest id of that modality. */
export const unknownModel = (catalogue: Pick<Snapshot, "all">, id: string, modality: Modality): Failure => {
  const ids = catalogue.all.filter((model) => model.modality === modality).map((model) => model.id)
  const near = nearest(ids, id)
  return failure({ _tag: "UnknownModel", model: id, ...(near === undefined ? {} : { nearest: near }) })
}
