/** The handlers of every operation, by the names of their groups in `Api`. */
import { Effect } from "effect"
import { batchHandlers } from "./Batch.ts"
import { filesHandlers } from "./BatchFiles.ts"
import { batchesHandlers } from "./Batches.ts"
import { chatHandlers } from "./Chat.ts"
import { embeddingsHandlers } from "./Embeddings.ts"
import { imagesHandlers } from "./Images.ts"
import { legacyHandlers } from "./LegacyChat.ts"
import { messagesHandlers } from "./Messages.ts"
import { modelsHandlers } from "./Models.ts"
import { openrouterHandlers } from "./OpenRouter.ts"
import { paymentsHandlers } from "./Payments.ts"
import { requestsHandlers } from "./Requests.ts"
import { rerankHandlers } from "./Rerank.ts"
import { responsesHandlers } from "./Responses.ts"
import { searchHandlers } from "./Search.ts"
import { sessionsHandlers } from "./Sessions.ts"
import { speechHandlers } from "./Speech.ts"
import { usageHandlers } from "./Usage.ts"
import { videosHandlers, legacyVideosHandlers } from "./Videos.ts"
import { webhooksHandlers } from "./Webhooks.ts"
import { consoleManagementKeysHandlers } from "./console/ManagementKeys.ts"
import { consolePhoneHandlers } from "./console/Phone.ts"
import { consoleSessionHandlers } from "./console/Session.ts"
import { consoleSettingsHandlers } from "./console/Settings.ts"
import { consoleSignInHandlers } from "./console/SignIn.ts"
import { consoleTopUpsHandlers } from "./console/TopUps.ts"
import { operatorAccountsHandlers } from "./operator/Accounts.ts"
import { operatorAuditHandlers } from "./operator/Audit.ts"
import { operatorMoneyHandlers } from "./operator/Money.ts"
import { operatorPlansHandlers } from "./operator/Plans.ts"
import { operatorRequestsHandlers } from "./operator/Requests.ts"
import { operatorSessionHandlers, operatorSignInHandlers } from "./operator/Session.ts"
import { operatorSpendHandlers } from "./operator/Spend.ts"
import { managementAccountHandlers } from "./management/Account.ts"
import { managementAuditHandlers } from "./management/Audit.ts"
import { managementKeysHandlers } from "./management/Keys.ts"
import { managementPresetsHandlers } from "./management/Presets.ts"
import { managementProjectsHandlers } from "./management/Projects.ts"
import { managementUsageHandlers } from "./management/Usage.ts"
import { managementWebhooksHandlers } from "./management/Webhooks.ts"

/** Every handler of `Api`. The dispatcher's type says if one is missing. */
export const makeHandlers = Effect.all({
  batch: batchHandlers,
  files: filesHandlers,
  batches: batchesHandlers,
  chat: chatHandlers,
  embeddings: embeddingsHandlers,
  images: imagesHandlers,
  legacy: legacyHandlers,
  messages: messagesHandlers,
  models: modelsHandlers,
  openrouter: openrouterHandlers,
  payments: paymentsHandlers,
  requests: requestsHandlers,
  rerank: rerankHandlers,
  responses: responsesHandlers,
  search: searchHandlers,
  sessions: sessionsHandlers,
  speech: speechHandlers,
  usage: usageHandlers,
  videos: videosHandlers,
  legacyVideos: legacyVideosHandlers,
  webhooks: webhooksHandlers,
  consoleManagementKeys: consoleManagementKeysHandlers,
  consolePhone: consolePhoneHandlers,
  consoleSettings: consoleSettingsHandlers,
  consoleSession: consoleSessionHandlers,
  consoleSignIn: consoleSignInHandlers,
  consoleTopUps: consoleTopUpsHandlers,
  managementAccount: managementAccountHandlers,
  operatorAccounts: operatorAccountsHandlers,
  operatorRequests: operatorRequestsHandlers,
  operatorMoney: operatorMoneyHandlers,
  operatorPlans: operatorPlansHandlers,
  operatorSpend: operatorSpendHandlers,
  operatorAudit: operatorAuditHandlers,
  operatorSignIn: operatorSignInHandlers,
  operatorSession: operatorSessionHandlers,
  managementAudit: managementAuditHandlers,
  managementKeys: managementKeysHandlers,
  managementPresets: managementPresetsHandlers,
  managementProjects: managementProjectsHandlers,
  managementUsage: managementUsageHandlers,
  managementWebhooks: managementWebhooksHandlers
})
