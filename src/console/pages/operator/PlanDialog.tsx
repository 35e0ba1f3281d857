import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import type { Plan } from "../../../client/Contract.ts"
import { operatorApi } from "../../data/Client.ts"
import { decimalIn } from "../../data/Decimals.ts"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Field, NameField } from "../../parts/Fields.tsx"
import { toast } from "../../parts/Toasts.tsx"

const limits = [
  { name: "requests_per_minute", label: "Requests per minute and key" },
  { name: "running_videos", label: "Running videos" },
  { name: "running_batches", label: "Running batches" },
  { name: "daily_spend_usd", label: "Spend per day, in USD" }
] as const

const EXAMPLE = '[{ "model": "gpt-4o-mini", "input_usd_per_million": 0.2, "output_usd_per_million": 0.8 }]'

/** The number in a field: null if it is empty, undefined if it is not a number. */
const numberIn = (text: string): number | null | undefined => (text.trim() === "" ? null : decimalIn(text))

/** The list in the field of fixed prices; undefined if it is not a JSON list. */
const pricesIn = (text: string): Plan["prices"] | undefined => {
  try {
    const value: unknown = text.trim() === "" ? [] : JSON.parse(text)
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

const useForm = (plan: Plan | undefined) => {
  const [name, setName] = useState(plan?.name ?? "")
  const [markup, setMarkup] = useState(String((plan?.markup_basis_points ?? 0) / 100))
  const [prices, setPrices] = useState(
    plan === undefined || plan.prices.length === 0 ? "" : JSON.stringify(plan.prices, null, 2)
  )
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>(
    Object.fromEntries(limits.map((limit) => [limit.name, String(plan?.limits[limit.name] ?? "")]))
  )
  const points = Math.round((numberIn(markup) ?? Number.NaN) * 100)
  const list = pricesIn(prices)
  const numbers = limits.map((limit) => [limit.name, numberIn(texts[limit.name] ?? "")] as const)
  const isMarkup = points >= -9_999 && points <= 100_000
  const areLimits = numbers.every(([, value]) => value !== undefined)
  const isReady = name.trim() !== "" && isMarkup && areLimits && list !== undefined
  const body = {
    name: name.trim(),
    markup_basis_points: points,
    prices: list ?? [],
    limits: Object.fromEntries(numbers) as Plan["limits"]
  }
  return {
    areLimits,
    body,
    isMarkup,
    isReady,
    list,
    markup,
    name,
    prices,
    setMarkup,
    setName,
    setPrices,
    setTexts,
    texts
  }
}

const LimitFields = ({ form }: { readonly form: ReturnType<typeof useForm> }) => (
  <>
    <fieldset className="limits">
      <legend>Limits of each account. An empty field keeps the default.</legend>
      {limits.map(({ label, name }) => (
        <label key={name} className="amount">
          {label}
          <input
            className="input"
            inputMode="decimal"
            aria-invalid={numberIn(form.texts[name] ?? "") === undefined}
            value={form.texts[name]}
            onChange={({ target }) => form.setTexts({ ...form.texts, [name]: target.value })}
          />
        </label>
      ))}
    </fieldset>
    {form.areLimits ? null : (
      <div className="field">
        <span className="wrong" role="alert">
          Each limit must be a number, or empty.
        </span>
      </div>
    )}
  </>
)

/** Creates or edits a plan. */
export const PlanDialog = ({ onClose, plan }: { readonly plan: Plan | undefined; readonly onClose: () => void }) => {
  const form = useForm(plan)
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: () =>
      plan === undefined
        ? operatorApi.call("operator.plans.create", { body: form.body })
        : operatorApi.call("operator.plans.set", { path: { plan_id: plan.id }, body: form.body }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["operator", "plans"] })
      toast(plan === undefined ? "The plan is created." : "The plan is changed. Running requests keep their price.")
      onClose()
    }
  })
  return (
    <FormDialog
      wide
      title={plan === undefined ? "Create a plan" : "Edit the plan"}
      action={plan === undefined ? "Create plan" : "Save plan"}
      busy={save.isPending}
      error={save.error}
      ready={form.isReady}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <div className="grid pair">
        <NameField value={form.name} onChange={form.setName} />
        <Field
          label="Markup, in percent"
          hint="Added to the catalogue's prices. A negative markup is a discount."
          wrong={form.isMarkup ? undefined : "The markup must be a number from −99.99 to 1,000."}
        >
          {(field) => (
            <input
              {...field}
              className="input"
              inputMode="decimal"
              value={form.markup}
              onChange={({ target }) => form.setMarkup(target.value)}
            />
          )}
        </Field>
      </div>
      <LimitFields form={form} />
      <Field
        label="Fixed prices, as JSON"
        hint={
          <>
            A fixed price replaces every markup. Give at most one per model, such as <code>{EXAMPLE}</code>
          </>
        }
        wrong={form.list === undefined ? "The fixed prices must be a JSON list." : undefined}
      >
        {(field) => (
          <textarea
            {...field}
            className="input mono"
            rows={4}
            spellCheck={false}
            value={form.prices}
            onChange={({ target }) => form.setPrices(target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
