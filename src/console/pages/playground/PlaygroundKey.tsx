import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api } from "../../data/Client.ts"
import { keepKey, useKeyInMemory } from "../../data/KeyInMemory.ts"
import { keysQuery } from "../../data/Queries.ts"
import { Field } from "../../parts/Fields.tsx"
import { Failed } from "../../parts/States.tsx"

const NAME = "Playground"
const LIFE_S = 86_400

/** Names the key that pays for the requests of the playground. */
export const PlaygroundKeyName = () => {
  const pageKey = useKeyInMemory()
  if (pageKey === undefined) return null
  return (
    <p className="small muted">
      Requests use the key <strong>{pageKey.name}</strong>.{" "}
      <button type="button" className="button plain tiny" onClick={() => keepKey(undefined)}>
        Use another key
      </button>
    </p>
  )
}

/** Chooses the key of the playground: a new one that expires after a day, or an existing one. */
export const PlaygroundKey = () => {
  const client = useQueryClient()
  const [typed, setTyped] = useState("")
  const create = useMutation({
    mutationFn: () =>
      api.call("management.keys.create", {
        body: { name: NAME, expires_at: Math.floor(Date.now() / 1_000) + LIFE_S }
      }),
    onSuccess: async ({ data, key }) => {
      keepKey({ id: data.id, name: data.name, secret: key })
      await client.invalidateQueries(keysQuery)
    }
  })
  return (
    <div className="form key-choice">
      {create.isError ? <Failed error={create.error} /> : null}
      <p className="small muted">
        The playground calls the API with a key, as your programs do. The key stays in this page's memory.
      </p>
      <button type="button" className="button primary" disabled={create.isPending} onClick={() => create.mutate()}>
        Create a key for a day
      </button>
      <Field label="Or paste a key">
        {(props) => (
          <input
            {...props}
            className="input mono"
            type="password"
            autoComplete="off"
            placeholder="svc_sk_…"
            value={typed}
            onChange={(event) => {
              const secret = event.target.value.trim()
              setTyped(secret)
              if (/^svc_sk_[\w-]{40,}$/.test(secret)) keepKey({ id: "", name: `svc_sk_…${secret.slice(-4)}`, secret })
            }}
          />
        )}
      </Field>
    </div>
  )
}
