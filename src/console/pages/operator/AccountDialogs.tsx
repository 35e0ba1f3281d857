/** Dialogs that change an account: its state, its plan, its markup and its rate limits. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { OperatorAccountResult } from "../../../client/Contract.ts"
import { operatorApi } from "../../data/Client.ts"
import { decimalIn } from "../../data/Decimals.ts"
import { plansQuery, refreshOperator } from "../../data/Operator.ts"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Field, DecimalField } from "../../parts/Fields.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { ReasonDialog } from "./ReasonDialog.tsx"

export type AccountAction = "suspend" | "resume" | "close" | "plan" | "markup" | "limits"

interface DialogProps {
  readonly account: OperatorAccountResult["data"]
  readonly onClose: () => void
}

const texts = {
  suspend: {
    title: "Suspend this account",
    about:
      "Every node refuses the account's requests and sign-ins at once. Running requests finish. The gateway deletes nothing, and you can resume the account.",
    action: "Suspend account",
    done: "The account is suspended."
  },
  resume: {
    title: "Resume this account",
    about: "The account's keys and sign-in work again at once, and the gateway delivers its webhooks.",
    action: "Resume account",
    done: "The account is active again."
  },
  close: {
    title: "Close this account",
    about:
      "The gateway revokes all keys of the account and ends its sign-in. Its ledger and receipts stay. You cannot undo this.",
    action: "Close account",
    done: "The account is closed."
  }
} as const

const ChangeState = ({ account, action, onClose }: DialogProps & { readonly action: keyof typeof texts }) => {
  const { about, action: name, done, title } = texts[action]
  return (
    <ReasonDialog
      title={title}
      action={name}
      danger={action !== "resume"}
      shownToOwner={action !== "resume"}
      {...(action === "close" ? { name: account.email } : {})}
      onClose={onClose}
      run={async ({ reason }) => {
        const input = { path: { account_id: account.id }, body: { reason } }
        if (action === "suspend") await operatorApi.call("operator.accounts.suspend", input)
        else if (action === "resume") await operatorApi.call("operator.accounts.resume", input)
        else await operatorApi.call("operator.accounts.close", input)
        return done
      }}
    >
      {about}
    </ReasonDialog>
  )
}

interface TermDialogProps {
  readonly title: string
  readonly action: string
  readonly ready: boolean
  readonly save: () => Promise<unknown>
  readonly done: string
  readonly onClose: () => void
  readonly children: React.ReactNode
}

/** A dialog that changes one term of an account. The audit log keeps the former value. */
const TermDialog = ({ action, children, done, onClose, ready, save, title }: TermDialogProps) => {
  const client = useQueryClient()
  const act = useMutation({
    mutationFn: save,
    onSuccess: async () => {
      await refreshOperator(client)
      toast(done)
      onClose()
    }
  })
  return (
    <FormDialog
      title={title}
      action={action}
      busy={act.isPending}
      error={act.error}
      ready={ready}
      onSubmit={() => act.mutate()}
      onClose={onClose}
    >
      {children}
    </FormDialog>
  )
}

const ChangePlan = ({ account, onClose }: DialogProps) => {
  const { data: plans = [] } = useQuery(plansQuery)
  const [plan, setPlan] = useState(account.plan?.id ?? "")
  return (
    <TermDialog
      title="Change the plan"
      action="Save plan"
      ready={plan !== (account.plan?.id ?? "")}
      done="The plan is changed. Running requests keep their price."
      save={() =>
        operatorApi.call("operator.accounts.plan", {
          path: { account_id: account.id },
          body: { plan_id: plan === "" ? null : plan }
        })
      }
      onClose={onClose}
    >
      <Field label="Plan" hint="The plan's prices and limits apply from the next request on.">
        {(field) => (
          <select {...field} className="select" value={plan} autoFocus onChange={({ target }) => setPlan(target.value)}>
            <option value="">No plan: the catalogue's prices</option>
            {plans.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
    </TermDialog>
  )
}

const ChangeMarkup = ({ account, onClose }: DialogProps) => {
  const [percent, setPercent] = useState(String(account.markup_basis_points / 100))
  const points = Math.round((decimalIn(percent) ?? Number.NaN) * 100)
  const isGood = points >= -9_999 && points <= 100_000
  return (
    <TermDialog
      title="Change the markup"
      action="Save markup"
      ready={isGood}
      done="The markup is changed. Running requests keep their price."
      save={() =>
        operatorApi.call("operator.accounts.markup", {
          path: { account_id: account.id },
          body: { markup_basis_points: points }
        })
      }
      onClose={onClose}
    >
      <DecimalField
        label="Markup, in percent"
        hint="Added to the catalogue's prices. A negative markup is a discount. A markup other than 0 replaces the plan's markup."
        wrong={isGood || percent === "" ? undefined : "The markup must be a number from −99.99 to 1,000."}
        value={percent}
        onChange={setPercent}
      />
    </TermDialog>
  )
}

const ChangeLimits = ({ account, onClose }: DialogProps) => {
  const [scale, setScale] = useState(String(account.limit_scale))
  const factor = decimalIn(scale) ?? Number.NaN
  const isGood = factor >= 0.001 && factor <= 1_000_000
  return (
    <TermDialog
      title="Change the rate limits"
      action="Save rate limits"
      ready={isGood}
      done="The rate limits change within 30 seconds."
      save={() =>
        operatorApi.call("operator.accounts.limits", {
          path: { account_id: account.id },
          body: { limit_scale: factor }
        })
      }
      onClose={onClose}
    >
      <DecimalField
        label="Factor"
        hint="Multiplies every rate limit of the account. 1 is the default. 2 lets it send twice as many requests."
        wrong={isGood || scale === "" ? undefined : "The factor must be a number from 0.001 to 1,000,000."}
        value={scale}
        onChange={setScale}
      />
    </TermDialog>
  )
}

/** The dialog of an action on an account. */
export const AccountDialog = ({ account, action, onClose }: DialogProps & { readonly action: AccountAction }) => {
  const dialog = { account, onClose }
  if (action === "plan") return <ChangePlan {...dialog} />
  if (action === "markup") return <ChangeMarkup {...dialog} />
  if (action === "limits") return <ChangeLimits {...dialog} />
  return <ChangeState {...dialog} action={action} />
}
