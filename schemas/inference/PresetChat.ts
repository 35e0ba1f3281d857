import { Schema } from "effect"
import { presetMaxTokens } from "../management/Presets.ts"
import { ChatCompletionRequest } from "./ChatCompletions.ts"

/**
 * A chat request to a preset. What it says goes before what the preset says: `model` or `models` take the place of the preset's
 * models, and of `routing` each member that of the preset's.
 */
export const PresetChatRequest = Schema.Struct({
  ...ChatCompletionRequest.fields,
  ...presetMaxTokens
}).annotate({ identifier: "PresetChatRequest" })
