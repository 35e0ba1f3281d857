import { HttpApi, OpenApi } from "effect/http-api"
import { Envelope, OpenAccess } from "./Access.ts"
import { OpenRouterGroup } from "./account/OpenRouter.ts"
import { RequestsGroup } from "./account/RequestsGroup.ts"
import { UsageGroup } from "./account/UsageGroup.ts"
import { WebhooksGroup } from "./account/WebhooksGroup.ts"
import { ModelsGroup } from "./catalogue/Models.ts"
import { ConsoleManagementKeysGroup } from "./console/ManagementKeysGroup.ts"
import { ConsolePhoneGroup } from "./console/PhoneGroup.ts"
import { ConsoleSettingsGroup } from "./console/SettingsGroup.ts"
import { ConsoleSessionGroup, ConsoleSignInGroup } from "./console/SignInGroup.ts"
import { ConsoleTopUpsGroup } from "./console/TopUpsGroup.ts"
import { BatchGroup } from "./inference/Batch.ts"
import { BatchesGroup } from "./inference/Batches.ts"
import { ChatCompletionChunk } from "./inference/ChatCompletions.ts"
import { ChatGroup } from "./inference/ChatGroup.ts"
import { EmbeddingsGroup } from "./inference/Embeddings.ts"
import { FilesGroup } from "./inference/Files.ts"
import { ImagesGroup } from "./inference/ImagesGroup.ts"
import { LegacyGroup } from "./inference/LegacyGroup.ts"
import { ManagementAccountGroup } from "./management/AccountGroup.ts"
import { ManagementAuditGroup } from "./management/AuditGroup.ts"
import { ManagementKeysGroup } from "./management/KeysGroup.ts"
import { ManagementPresetsGroup } from "./management/PresetsGroup.ts"
import { ManagementProjectsGroup } from "./management/ProjectsGroup.ts"
import { ManagementUsageGroup } from "./management/UsageGroup.ts"
import { ManagementWebhooksGroup } from "./management/WebhooksGroup.ts"
import { MessagesStreamEvent } from "./inference/MessagesAnswer.ts"
import { MessagesGroup } from "./inference/MessagesGroup.ts"
import { ResponsesStreamEvent } from "./inference/ResponsesEvents.ts"
import { RerankGroup } from "./inference/Rerank.ts"
import { SearchGroup } from "./inference/SearchGroup.ts"
import { SessionsGroup } from "./inference/SessionsGroup.ts"
import { SpeechGroup } from "./inference/SpeechGroup.ts"
import { ResponsesGroup } from "./inference/ResponsesGroup.ts"
import { LegacyVideosGroup, VideosGroup } from "./inference/Videos.ts"
import { OperatorAccountsGroup } from "./operator/AccountsGroup.ts"
import { OperatorAuditGroup } from "./operator/AuditGroup.ts"
import { OperatorMoneyGroup } from "./operator/MoneyGroup.ts"
import { OperatorPlansGroup } from "./operator/PlansGroup.ts"
import { OperatorRequestsGroup } from "./operator/RequestsGroup.ts"
import { OperatorSessionGroup, OperatorSignInGroup } from "./operator/SessionGroup.ts"
import { OperatorSpendGroup } from "./operator/SpendGroup.ts"
import { PaymentsGroup } from "./payments/PaymentsGroup.ts"
import { publishedDocument } from "./Published.ts"

/** Everything that the service serves at its public address, in reading order. */
export class Api extends HttpApi.make("tollgate")
  .add(
    ChatGroup,
    ResponsesGroup,
    EmbeddingsGroup,
    RerankGroup,
    SpeechGroup,
    ImagesGroup,
    SearchGroup,
    VideosGroup,
    BatchGroup,
    BatchesGroup,
    FilesGroup,
    RequestsGroup,
    UsageGroup,
    OpenRouterGroup,
    WebhooksGroup,
    ModelsGroup.middleware(OpenAccess),
    ManagementKeysGroup,
    ManagementProjectsGroup,
    ManagementPresetsGroup,
    ManagementWebhooksGroup,
    ManagementAuditGroup,
    ManagementUsageGroup,
    ManagementAccountGroup,
    ConsoleSignInGroup,
    ConsoleSessionGroup,
    ConsolePhoneGroup,
    ConsoleSettingsGroup,
    ConsoleManagementKeysGroup,
    ConsoleTopUpsGroup,
    OperatorAccountsGroup,
    OperatorRequestsGroup,
    OperatorMoneyGroup,
    OperatorPlansGroup,
    OperatorSpendGroup,
    OperatorAuditGroup,
    OperatorSignInGroup,
    OperatorSessionGroup,
    PaymentsGroup
  )
  .middleware(Envelope)
  .add(LegacyGroup, LegacyVideosGroup, SessionsGroup, MessagesGroup)
  .prefix("/api/v1")
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.AdditionalSchemas, [ChatCompletionChunk, ResponsesStreamEvent, MessagesStreamEvent])
  .annotate(OpenApi.Transform, (document): Record<string, unknown> => publishedDocument(document, Api.groups))
  .annotateMerge(
    OpenApi.annotations({
      title: "tollgate",
      version: "1.0.0",
      description: "A paid gateway that puts many hosted AI models and generation providers behind one API."
    })
  ) {}
