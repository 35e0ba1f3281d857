import type { ProviderInfo } from "../domain/Model.ts"

/** A provider of the built-in catalogue. */
export interface ListedProvider extends ProviderInfo {
  /** Its ID in the published price list; absent when the list does not know it. */
  readonly pricedAs: string | undefined
}

const listed = (
  id: string,
  name: string,
  pricedAs: string | undefined,
  data: { readonly trains?: boolean; readonly zeroRetention?: boolean } = {}
): ListedProvider => ({
  id,
  name,
  pricedAs,
  trainsOnData: data.trains ?? false,
  zeroRetention: data.zeroRetention ?? false
})

/**
 * All listed providers. A provider counts as training on data unless its terms exclude that for API content. It counts as retaining
 * data unless it stores none by default or lets every account turn retention off.
 */
export const listedProviders: ReadonlyArray<ListedProvider> = [
  listed("openai", "OpenAI", "openai"),
  listed("azure", "Microsoft Azure", "azure"),
  listed("anthropic", "Anthropic", "anthropic"),
  listed("bedrock", "Amazon Bedrock", "aws", { zeroRetention: true }),
  listed("gemini", "Google Gemini API", "google"),
  listed("vertex", "Google Vertex AI", "google", { zeroRetention: true }),
  listed("xai", "xAI", "x-ai"),
  listed("mistral", "Mistral AI", "mistral"),
  listed("deepseek", "DeepSeek", "deepseek", { trains: true }),
  listed("moonshot", "Moonshot AI", "moonshotai", { trains: true }),
  listed("minimax", "MiniMax", "minimax", { trains: true }),
  listed("zai", "Z.ai", "zai"),
  listed("cohere", "Cohere", "cohere", { trains: true }),
  listed("perplexity", "Perplexity", "perplexity", { zeroRetention: true }),
  listed("groq", "Groq", "groq", { zeroRetention: true }),
  listed("together", "Together AI", "together", { zeroRetention: true }),
  listed("fireworks", "Fireworks AI", "fireworks", { zeroRetention: true }),
  listed("cerebras", "Cerebras", "cerebras", { zeroRetention: true }),
  listed("baseten", "Baseten", "baseten", { zeroRetention: true }),
  listed("cloudflare", "Cloudflare Workers AI", "cloudflare"),
  listed("novita", "Novita AI", "novita"),
  listed("avian", "Avian", "avian"),
  listed("ovhcloud", "OVHcloud AI Endpoints", "ovhcloud", { zeroRetention: true }),
  listed("openrouter", "OpenRouter", "openrouter", { trains: true }),
  listed("voyage", "Voyage AI", "voyageai", { trains: true }),
  listed("tavily", "Tavily", undefined),
  listed("fal", "fal", undefined)
]
