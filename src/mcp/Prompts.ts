/** Prompts that a user can choose in a client: tasks that take several tools. */
import { Effect, Schema } from "effect"
import { McpServer } from "effect/ai"
import { Catalogue } from "../catalogue/Catalogue.ts"
import { decoder } from "../dialects/Decode.ts"
import { withRpcErrors } from "./RpcErrors.ts"

/** The most suggestions for one argument, by the protocol. */
const MAX_SUGGESTIONS = 100

type Register = typeof McpServer.registerPrompt

/** Registers a prompt and checks its arguments first, because the library's check answers with the text of a schema error. */
const register: Register = (options) =>
  Effect.gen(function* () {
    const server = yield* McpServer.McpServer
    const decode = decoder(Schema.Struct(options.parameters ?? {}), { strict: false, whole: "arguments" })
    const adding = {
      ...server,
      addPrompt: (prompt: Parameters<typeof server.addPrompt>[0]) =>
        server.addPrompt({
          ...prompt,
          handle: (given) => Effect.andThen(withRpcErrors(Effect.fromResult(decode(given))), prompt.handle(given))
        })
    }
    return yield* Effect.provideService(McpServer.registerPrompt(options), McpServer.McpServer, adding)
  })

const secondOpinion = Effect.gen(function* () {
  const catalogue = yield* Catalogue
  /** Ids of chat models that contain what the user has typed. */
  const suggested = (typed: string) =>
    Effect.sync(() => {
      const current = catalogue.current()
      return current.all
        .filter((model) => model.modality === "text" && current.isServable(model) && model.id.includes(typed))
        .slice(0, MAX_SUGGESTIONS)
        .map(({ id }) => id)
    })
  return yield* register({
    name: "second_opinion",
    title: "Get a second opinion",
    description: "Ask another model the same question, and compare its answer with your own.",
    parameters: {
      question: Schema.String.annotate({ description: "What to ask." }),
      model: Schema.optionalKey(
        Schema.String.annotate({ description: "The model to ask; the service chooses unless given." })
      )
    },
    completion: { model: suggested },
    content: ({ model = "svc/auto", question }) =>
      Effect.succeed(
        [
          `First answer this question yourself: ${question}`,
          `Then call the tool \`chat\` with \`model\` "${model}", the same question as \`prompt\`, an \`idempotency_key\` of your own, and \`max_cost_usd\` 0.10.`,
          "Compare both answers: where they agree, where they differ, and which one you trust more and why. Say what the call cost."
        ].join("\n\n")
      )
  })
})

const spendingReport = register({
  name: "spending_report",
  title: "Report the spending",
  description: "Say what the account spent, on which models, and how to spend less.",
  parameters: {
    period: Schema.optionalKey(
      Schema.Literals(["1d", "7d", "30d"]).annotate({ description: "How far back; 7d unless given." })
    )
  },
  content: ({ period = "7d" }) =>
    Effect.succeed(
      [
        `Call \`get_usage\` with \`period\` "${period}", \`get_balance\`, and \`list_requests\`.`,
        "Report the total, the three models that cost the most, and how many days the balance lasts at this rate.",
        "Then call `list_models` and name one cheaper model for the most expensive use, with its price beside the present one."
      ].join("\n\n")
    )
})

/** Registers all prompts with the server. */
export const registerPrompts = Effect.all([secondOpinion, spendingReport], { discard: true })
