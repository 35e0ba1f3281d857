import { useState } from "react"
import type { ModelDetail } from "../../../client/Contract.ts"
import { duration, share } from "../../format/Figures.ts"
import { money, perMillion } from "../../format/Money.ts"
import { Finder } from "../../parts/Finder.tsx"

const MOST = 40

/** The price of a model, in a few words. */
export const priceWords = ({ pricing, virtual }: ModelDetail): string => {
  if (virtual) return "the price of the model it picks"
  if (pricing.unit !== "token") return `${money(pricing.perUnitUsd ?? pricing.perRequestUsd ?? 0)} per ${pricing.unit}`
  return `${perMillion(pricing.meteredPromptPerToken)} in, ${perMillion(pricing.meteredCompletionPerToken)} out`
}

/** The live figures of the model's first provider; undefined with too few requests. */
export const liveWords = ({ providers }: ModelDetail): string | undefined => {
  const { performance } = providers[0] ?? {}
  if (performance === undefined || performance.thin) return undefined
  const words = [
    ...(performance.medianTtftMs === null ? [] : [`first token ${duration(performance.medianTtftMs)}`]),
    ...(performance.successRate === null ? [] : [`${share(performance.successRate)} success`])
  ]
  return words.length === 0 ? undefined : words.join(", ")
}

interface PickerProps {
  readonly label: string
  readonly model: string
  readonly models: ReadonlyArray<ModelDetail>
  readonly onModel: (model: string) => void
  /** Names other than models, such as presets. */
  readonly others?: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

/** Chooses a model by its name, price and live figures. */
export const ModelPicker = ({ label, model, models, onModel, others = [] }: PickerProps) => {
  const [open, setOpen] = useState(false)
  const current = models.find(({ id }) => id === model)
  return (
    <>
      <button type="button" className="button picker" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <span className="unseen">{label}: </span>
        <span className="clip" title={model}>
          {current?.name ?? model}
        </span>
        <span aria-hidden="true">▾</span>
      </button>
      {open ? (
        <Finder
          label="Search models by name, id or maker"
          none="No model has this name."
          find={(words) => {
            const wanted = words.trim().toLowerCase().split(/\s+/)
            const fits = (text: string) => wanted.every((word) => text.toLowerCase().includes(word))
            const presets = others
              .filter(({ id, name }) => fits(`${id} ${name}`))
              .map(({ id, name }) => ({
                id,
                shown: (
                  <span className="stack">
                    <span className="clip">{id}</span>
                    <span className="small muted clip">{name}</span>
                  </span>
                ),
                kind: "Preset",
                choose: () => onModel(id)
              }))
            const found = models
              .filter(({ brand, id, name }) => fits(`${id} ${name} ${brand}`))
              .slice(0, MOST)
              .map((one) => ({
                id: one.id,
                shown: (
                  <span className="stack">
                    <span className="clip">{one.name}</span>
                    <span className="small muted clip">{liveWords(one) ?? one.id}</span>
                  </span>
                ),
                kind: <span className="number">{priceWords(one)}</span>,
                choose: () => onModel(one.id)
              }))
            return [...presets, ...found]
          }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  )
}
