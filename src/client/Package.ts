/** The client of tollgate for JavaScript and TypeScript, in Node 20 or later and in browsers. It has no dependencies. */
export {
  type Answer,
  type CallInput,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Input,
  type Item,
  type ListId,
  type OperationId,
  type StreamEvent,
  type StreamingId
} from "./Client.ts"
export { TollgateConnectionError, TollgateError, TollgateStreamError } from "./Errors.ts"
export { nanoFromUsd, usdFromNano } from "./Money.ts"
export { verifyWebhook, type WebhookHeaders } from "./Webhook.ts"
export type * from "./Contract.ts"
