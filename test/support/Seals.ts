/** The encryption of reasoning with a key for tests. */
import { Layer, Redacted } from "effect"
import { ReasoningSeals } from "../../src/inference/ReasoningSeals.ts"
import { Secrets } from "../../src/platform/Secrets.ts"

export const seals = ReasoningSeals.layer.pipe(Layer.provide(Secrets.layerFrom(Redacted.make("k".repeat(32)))))
