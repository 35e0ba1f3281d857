import { useInfiniteQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { OperatorKey } from "../../../client/Contract.ts"
import { operatorApi } from "../../data/Client.ts"
import { accountKeysQuery } from "../../data/Operator.ts"
import { sentence } from "../../format/Words.ts"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { PagedList } from "../../parts/PagedList.tsx"

/** The keys of an account. An operator can revoke each active one. */
export const KeysCard = ({ accountId }: { readonly accountId: string }) => {
  const keys = useInfiniteQuery(accountKeysQuery(accountId))
  const [revoking, setRevoking] = useState<OperatorKey>()
  return (
    <section className="card" aria-label="Keys">
      <header>
        <h2>Keys</h2>
      </header>
      <PagedList of={keys} name="keys" rows={3} empty={{ title: "This account has no key." }}>
        {(rows) => (
          <Table label="keys" columns={["Key", "Kind", "Status", { right: "Created" }, actionsColumn]}>
            {rows.map((key) => (
              <tr key={key.id} className={key.status === "active" ? "" : "off"}>
                <th scope="row">
                  <span className="stack">
                    <span className="clip" title={key.name}>
                      {key.name}
                    </span>
                    <code className="muted">
                      {key.prefix}…{key.last4}
                    </code>
                  </span>
                </th>
                <td>{sentence(key.kind)}</td>
                <td>
                  <Status of={key.status} />
                </td>
                <td className="right">
                  <Ago at={key.created_at} />
                </td>
                <td>
                  {key.status === "active" ? (
                    <RowActions
                      of={key.name}
                      actions={[{ name: "Revoke", danger: true, run: () => setRevoking(key) }]}
                    />
                  ) : null}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </PagedList>
      {revoking === undefined ? null : (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          name={revoking.name}
          action="Revoke key"
          done="The key is revoked on every node."
          changes={[{ queryKey: ["operator", "account", accountId] }]}
          run={() => operatorApi.call("operator.keys.revoke", { path: { account_id: accountId, key_id: revoking.id } })}
          onClose={() => setRevoking(undefined)}
        >
          Every node refuses this key ({revoking.prefix}…{revoking.last4}) at once. You cannot undo this.
        </Confirm>
      )}
    </section>
  )
}
