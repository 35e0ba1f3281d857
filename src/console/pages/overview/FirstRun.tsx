import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useEffect } from "react"
import type { ManagedKey, RequestReceipt } from "../../../client/Contract.ts"
import { STARTER_CREDIT_USD } from "../../data/Amounts.ts"
import { api, origin } from "../../data/Client.ts"
import { keepKey, useKeyInMemory } from "../../data/KeyInMemory.ts"
import { balanceQuery, keysQuery, newestQuery, sessionQuery } from "../../data/Queries.ts"
import { firstCall, snippetsOf } from "../../data/Snippets.ts"
import { money } from "../../format/Money.ts"
import { Code, Secret } from "../../parts/Copy.tsx"
import { Icon } from "../../parts/Icons.tsx"
import { Failed } from "../../parts/States.tsx"
import { PhoneForm } from "../billing/PhoneForm.tsx"

const StepMark = ({ at, done }: { readonly at: number; readonly done: boolean }) => (
  <span className={done ? "mark done" : "mark"}>{done ? <Icon name="check" /> : at}</span>
)

const KeyStep = ({ keys }: { readonly keys: ReadonlyArray<ManagedKey> }) => {
  const client = useQueryClient()
  const pageKey = useKeyInMemory()
  const create = useMutation({
    mutationFn: () => api.call("management.keys.create", { body: { name: "First key" } }),
    onSuccess: async ({ data, key }) => {
      keepKey({ id: data.id, name: data.name, secret: key })
      await client.invalidateQueries(keysQuery)
    }
  })
  if (pageKey !== undefined) return <Secret label="Your key" value={pageKey.secret} />
  return (
    <>
      <p className="muted">
        {keys.length === 0
          ? "Programs authenticate with a key. It spends from this account's balance."
          : "The gateway shows the secret of a key only once. Create another key for this snippet, or paste your own into it."}
      </p>
      {create.isError ? <Failed error={create.error} /> : null}
      <div>
        <button
          type="button"
          className={keys.length === 0 ? "button primary" : "button"}
          disabled={create.isPending}
          onClick={() => create.mutate()}
        >
          Create key
        </button>
      </div>
    </>
  )
}

/** The receipt of the first request as soon as it exists. The figures of the page then refresh. */
const useFirstRequest = () => {
  const client = useQueryClient()
  const [newest] = useQuery(newestQuery({}, 1, true)).data ?? []
  const id = newest?.id
  useEffect(() => {
    if (id === undefined) return
    void client.invalidateQueries({ queryKey: ["usage"] })
    void client.invalidateQueries(balanceQuery)
  }, [client, id])
  return newest
}

const FirstRequestStatus = ({ of }: { readonly of: RequestReceipt | undefined }) =>
  of === undefined ? (
    <p className="muted" role="status">
      Waiting for the first request. Send it from this snippet or from the playground.
    </p>
  ) : (
    <p role="status">
      {of.status === "failed" ? "It arrived and failed. " : "It arrived. "}
      <Link to="/requests/$id" params={{ id: of.id }}>
        Open its receipt
      </Link>
    </p>
  )

/** The first steps of a new owner: credit, a key and a request. */
export const FirstRun = ({ keys }: { readonly keys: ReadonlyArray<ManagedKey> }) => {
  const { data: session } = useQuery(sessionQuery)
  const pageKey = useKeyInMemory()
  const verified = session?.phone_verified === true
  const { data: balance } = useQuery(balanceQuery)
  const first = useFirstRequest()
  const isFunded = verified || (balance !== undefined && balance.available_usd > 0)
  const key = pageKey?.secret ?? "$KEY"
  return (
    <section className="card" aria-label="Your first request">
      <header>
        <h2>Send your first request</h2>
      </header>
      <ol className="steps">
        <li>
          <StepMark at={1} done={isFunded} />
          <div className="what">
            <h3>
              {verified
                ? "Starter credit is on the balance"
                : isFunded
                  ? `The balance has money. Verify a number to add ${money(STARTER_CREDIT_USD)}`
                  : `Get ${money(STARTER_CREDIT_USD)} of starter credit, or top up`}
            </h3>
            {verified ? null : (
              <>
                <p className="muted">A code by text message proves the number. No card is needed.</p>
                <PhoneForm />
              </>
            )}
            {isFunded ? null : (
              <div>
                <Link className="button" to="/billing">
                  Top up
                </Link>
              </div>
            )}
          </div>
        </li>
        <li>
          <StepMark at={2} done={pageKey !== undefined || keys.length > 0} />
          <div className="what">
            <h3>Create a key</h3>
            <KeyStep keys={keys} />
          </div>
        </li>
        <li>
          <StepMark at={3} done={first !== undefined} />
          <div className="what">
            <h3>Send the request and see it arrive</h3>
            <Code snippets={snippetsOf(firstCall(origin, key)).slice(0, 3)} />
            <FirstRequestStatus of={first} />
          </div>
        </li>
      </ol>
    </section>
  )
}
