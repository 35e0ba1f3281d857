import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import type { Plan } from "../../../client/Contract.ts"
import { ListPage } from "../../app/ListPage.tsx"
import { operatorApi } from "../../data/Client.ts"
import { plansQuery } from "../../data/Operator.ts"
import { count, signedPercent } from "../../format/Figures.ts"
import { money } from "../../format/Money.ts"
import { plural } from "../../format/Words.ts"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago } from "../../parts/Figures.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { PlanDialog } from "./PlanDialog.tsx"

/** The limits of a plan as short texts. */
const limitsOf = ({ limits }: Plan): ReadonlyArray<string> => [
  ...(limits.requests_per_minute === null ? [] : [`${plural(limits.requests_per_minute, "request")} per minute`]),
  ...(limits.running_videos === null ? [] : [plural(limits.running_videos, "running video")]),
  ...(limits.running_batches === null ? [] : [plural(limits.running_batches, "running batch", "running batches")]),
  ...(limits.daily_spend_usd === null ? [] : [`${money(limits.daily_spend_usd)} per day`])
]

const markupOf = ({ markup_basis_points: points }: Plan): string =>
  points === 0 ? "catalogue's prices" : signedPercent(points)

type Open = { readonly what: "create" } | { readonly what: "edit" | "remove"; readonly plan: Plan }

const Row = ({ onOpen, plan }: { readonly plan: Plan; readonly onOpen: (open: Open) => void }) => {
  const limits = limitsOf(plan)
  return (
    <tr>
      <th scope="row">
        <span className="clip" title={plan.name}>
          {plan.name}
        </span>
      </th>
      <td>{markupOf(plan)}</td>
      <td>
        {plan.prices.length === 0 ? (
          <span className="muted">none</span>
        ) : (
          <span title={plan.prices.map(({ model }) => model).join(", ")}>{plural(plan.prices.length, "model")}</span>
        )}
      </td>
      <td>
        {limits.length === 0 ? (
          <span className="muted">default</span>
        ) : (
          <span className="chips">
            {limits.map((words) => (
              <span key={words} className="chip">
                {words}
              </span>
            ))}
          </span>
        )}
      </td>
      <td className="right number">{count(plan.accounts)}</td>
      <td className="right">
        <Ago at={plan.created_at} />
      </td>
      <td>
        <RowActions
          of={plan.name}
          actions={[
            { name: "Edit", run: () => onOpen({ what: "edit", plan }) },
            {
              name: "Remove",
              danger: true,
              disabled: plan.accounts > 0,
              run: () => onOpen({ what: "remove", plan })
            }
          ]}
        />
      </td>
    </tr>
  )
}

/** The operator's page that lists, creates, edits and removes plans. */
export const PlansPage = () => {
  const plans = useQuery(plansQuery)
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <ListPage
      title="Plans"
      query={plans}
      create={{ name: "Create plan", run: () => setOpen({ what: "create" }) }}
      empty={{
        title: "There is no plan yet.",
        about: "A plan has a markup, fixed prices and limits for the accounts that belong to it."
      }}
      dialogs={
        open === undefined ? null : open.what === "remove" ? (
          <Confirm
            title="Remove this plan?"
            action="Remove plan"
            done="The plan is removed."
            changes={[plansQuery]}
            run={() => operatorApi.call("operator.plans.remove", { path: { plan_id: open.plan.id } })}
            onClose={close}
          >
            No account belongs to <strong>{open.plan.name}</strong>. Receipts keep its name.
          </Confirm>
        ) : (
          <PlanDialog plan={open.what === "edit" ? open.plan : undefined} onClose={close} />
        )
      }
    >
      {(rows) => (
        <Table
          label="plans"
          columns={[
            "Plan",
            "Markup",
            "Fixed prices",
            "Limits",
            { right: "Accounts" },
            { right: "Created" },
            actionsColumn
          ]}
        >
          {rows.map((plan) => (
            <Row key={plan.id} plan={plan} onOpen={setOpen} />
          ))}
        </Table>
      )}
    </ListPage>
  )
}
