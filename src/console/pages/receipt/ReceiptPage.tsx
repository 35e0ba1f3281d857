import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { RequestReceipt } from "../../../client/Contract.ts"
import { Page } from "../../app/Page.tsx"
import { origin } from "../../data/Client.ts"
import { useNames } from "../../data/Names.ts"
import { receiptQuery } from "../../data/Queries.ts"
import { moment } from "../../format/Figures.ts"
import { operationName, sentence } from "../../format/Words.ts"
import { Code, CopyButton, Id } from "../../parts/Copy.tsx"
import { Ago, Money, Status } from "../../parts/Figures.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Failed, Skeleton } from "../../parts/States.tsx"
import { CostLines } from "./CostLines.tsx"
import { commandsOf } from "./Repeat.ts"
import { Routing } from "./Routing.tsx"
import { Timeline } from "./Timeline.tsx"

/** The facts of the request, and its error. */
const Summary = ({ receipt }: { readonly receipt: RequestReceipt }) => {
  const nameOf = useNames("key")
  const projectName = useNames("project")
  const { cached, created_at, error, finish_reason, idempotency_key, key_id, operation, preset, streamed } = receipt
  const facts: ReadonlyArray<readonly [string, React.ReactNode]> = [
    ["Request", <Id value={receipt.id} />],
    [
      "Time",
      <>
        {moment(created_at)} (<Ago at={created_at} />)
      </>
    ],
    ["Operation", `${operationName(operation)}${streamed ? ", streamed" : ""}`],
    [
      "Model",
      <Link to="/models/$" params={{ _splat: receipt.resolved_model ?? receipt.model }}>
        {receipt.model}
      </Link>
    ],
    ...(preset === undefined ? [] : ([["Preset", preset]] as const)),
    ["Key", nameOf(key_id)],
    ...(receipt.project_id === null ? [] : ([["Project", projectName(receipt.project_id)]] as const)),
    ...(finish_reason === null ? [] : ([["Finish reason", sentence(finish_reason)]] as const)),
    ...(cached ? ([["Cache", "Answered from the cache"]] as const) : []),
    ...(idempotency_key === null ? [] : ([["Idempotency key", <Id value={idempotency_key} />]] as const)),
    ...(receipt.replayed_from === undefined
      ? []
      : ([
          [
            "Replay of",
            <Link to="/requests/$id" params={{ id: receipt.replayed_from }}>
              {receipt.replayed_from}
            </Link>
          ]
        ] as const)),
    ...(receipt.trace_id === null ? [] : ([["Trace", <Id value={receipt.trace_id} />]] as const))
  ]
  return (
    <section className="card" aria-label="Request">
      <header>
        <h2>Request</h2>
        <Status of={receipt.status} />
      </header>
      <div className="body grid">
        {error === null ? null : (
          <div className="banner bad">
            <span>
              <code>{error.code}</code> {error.message}
            </span>
          </div>
        )}
        <dl className="facts">
          {facts.map(([name, value]) => (
            <div key={name} style={{ display: "contents" }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
    </section>
  )
}

const ReceiptDetails = ({ receipt }: { readonly receipt: RequestReceipt }) => (
  <>
    <section className="card" aria-label="Cost">
      <div className="body split">
        <span>
          <span className="figure">
            <Money usd={receipt.cost_usd} />
          </span>{" "}
          <span className="muted">{receipt.status === "open" ? "so far" : "cost"}</span>
        </span>
        <span>
          <Money usd={receipt.held_usd} /> <span className="muted">was held</span>
        </span>
        {receipt.paid_with === "simulated" ? <span className="chip">paid with simulated money</span> : null}
      </div>
    </section>
    <div className="grid side">
      <div className="grid">
        <Timeline receipt={receipt} />
        <CostLines receipt={receipt} />
        <Routing receipt={receipt} />
      </div>
      <div className="grid">
        <Summary receipt={receipt} />
        <Code snippets={commandsOf(receipt, origin)} />
        <p className="muted small">The gateway stores no prompts. Put your own text into the command.</p>
      </div>
    </div>
  </>
)

/** The receipt of a request. It refreshes while the request runs. */
export const ReceiptPage = () => {
  const { id } = useParams({ from: "/shell/requests/$id" })
  const receipt = useQuery(receiptQuery(id))
  return (
    <Page
      title="Receipt"
      tools={
        receipt.isError ? null : (
          <CopyButton
            label="Copy a link to this receipt for others of this account"
            text={`${origin}/requests/${id}`}
            words="Copy link"
          />
        )
      }
      before={
        <Link className="button square" to="/requests" aria-label="Back to the requests">
          <Icon name="back" />
        </Link>
      }
    >
      {receipt.isError ? (
        <Failed
          error={receipt.error}
          onRetry={() => void receipt.refetch()}
          instead={
            <Link className="button" to="/requests">
              All requests
            </Link>
          }
        />
      ) : null}
      {receipt.isPending ? <Skeleton height={320} /> : null}
      {receipt.data === undefined ? null : <ReceiptDetails receipt={receipt.data} />}
    </Page>
  )
}
