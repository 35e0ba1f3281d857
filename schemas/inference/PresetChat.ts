import { Schema } from "effect"
import { presetMaxTokens } from "../management/Presets.ts"
import { ChatCompletionRequest } from "./ChatCompletions.ts"

/**
 * A chat request with a preset. Its own fields override the preset's: `model` or `models` replace the preset's models, and each member
 * of `routing` replaces that of the preset's.
 */
export const PresetChatRequest = Schema.Struct({
  ...ChatCompletionRequest.fields,
  ...presetMaxTokens
}).annotate({ identifier: "PresetChatRequest" })
