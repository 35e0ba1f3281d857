import { useState } from "react"
import type { ModelDetail, SpeechRequest } from "../../../client/Contract.ts"
import { fileUrl } from "../../data/Addresses.ts"
import { clientWithKey } from "../../data/Client.ts"
import { Field, OptionalSelect } from "../../parts/Fields.tsx"
import { makeGallery, useGallery } from "./Gallery.ts"
import { MediaCard, MediaLayout } from "./MediaLayout.tsx"
import { ModelPicker } from "./ModelPicker.tsx"
import { NumberField } from "./Options.tsx"
import { MediaCode } from "./RequestCode.tsx"

export interface MediaTabProps {
  readonly models: ReadonlyArray<ModelDetail>
  readonly model: string
  readonly onModel: (model: string) => void
  /** Whether the dialog with the request as code is open. */
  readonly showsCode: boolean
  readonly onCode: () => void
}

interface PromptProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The text of the request. */
export const Prompt = ({ label, onChange, placeholder, value }: PromptProps) => (
  <Field label={label}>
    {(props) => (
      <textarea
        {...props}
        className="input"
        data-search=""
        rows={4}
        required
        placeholder={placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)

/** The model picker of a tab, with its label. */
export const Model = ({ model, models, onModel }: Pick<MediaTabProps, "model" | "models" | "onModel">) => (
  <div className="field">
    <span className="label">Model</span>
    <ModelPicker label="Model" model={model} models={models} onModel={onModel} />
  </div>
)

const IMAGE = "A lighthouse in fog, at dawn"

/** The body with an example in a text field that is still empty. */
export const filled = (body: Readonly<Record<string, unknown>>, field: string, example: string) => {
  const text = body[field]
  return typeof text === "string" && text.trim() !== "" ? body : { ...body, [field]: example }
}

const images = makeGallery()

/** The image sizes that a model accepts. OpenAI's models have a fixed list, and others refuse more than a megapixel. */
const sizesOf = (model: string) =>
  model.startsWith("gpt-image") ? ["1024x1024", "1536x1024", "1024x1536"] : ["1024x1024", "1152x896", "896x1152"]

/** Creates images. */
export const ImageTab = ({ model, models, onCode, onModel, showsCode }: MediaTabProps) => {
  const [prompt, setPrompt] = useState("")
  const [chosen, setChosen] = useState<string>()
  const [n, setN] = useState<number>()
  const items = useGallery(images)
  const sizes = sizesOf(model)
  const size = chosen !== undefined && sizes.includes(chosen) ? chosen : undefined
  const body = { model, prompt, ...(size === undefined ? {} : { size }), ...(n === undefined ? {} : { n }) }
  const make = (key: string) =>
    void images.run({ model, prompt }, async () => {
      const answer = await clientWithKey(key).call("images.generations", { body })
      const urls = answer.data.flatMap(({ url }) => (url === undefined ? [] : [fileUrl(url)]))
      return { urls, costUsd: answer.cost_usd, requestId: answer.request_id }
    })
  return (
    <MediaLayout
      label="images"
      code={
        showsCode ? <MediaCode call={{ kind: "image", body: filled(body, "prompt", IMAGE) }} onClose={onCode} /> : null
      }
      action="Create images"
      ready={prompt.trim() !== ""}
      estimate={prompt.trim() === "" ? undefined : { model, n: n ?? 1 }}
      onMake={make}
      empty={
        items.length > 0
          ? undefined
          : { title: "Images appear here.", about: "The gateway keeps each image for 30 days." }
      }
      gallery={items.map((one) => (
        <MediaCard
          key={one.id}
          of={one}
          shape="picture"
          show={(url) => (
            <a href={url} target="_blank" rel="noopener">
              <img src={url} alt={one.prompt} />
            </a>
          )}
        />
      ))}
      fields={
        <>
          <Model model={model} models={models} onModel={onModel} />
          <Prompt label="Prompt" placeholder={IMAGE} value={prompt} onChange={setPrompt} />
          <div className="grid pair">
            <OptionalSelect
              label="Size"
              absent="default"
              options={sizes.map((value) => ({ value, name: value.replace("x", " × ") }))}
              value={size}
              onChange={setChosen}
            />
            <NumberField label="Images" range={[1, 10, 1]} value={n} onChange={setN} />
          </div>
        </>
      }
    />
  )
}

const speech = makeGallery()
const voices = ["alloy", "ash", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer"] as const

/** Creates speech. */
export const SpeechTab = ({ model, models, onCode, onModel, showsCode }: MediaTabProps) => {
  const [input, setInput] = useState("")
  const [voice, setVoice] = useState<string>("alloy")
  const [speed, setSpeed] = useState<number>()
  const items = useGallery(speech)
  const body = { model, input, voice, ...(speed === undefined ? {} : { speed }) } as SpeechRequest
  const make = (key: string) =>
    void speech.run({ model, prompt: input }, async () => {
      const seen: { requestId?: string; costUsd?: number } = {}
      const client = clientWithKey(key, ({ headers }) => {
        const [cost, id] = [headers.get("x-cost-usd"), headers.get("x-request-id")]
        if (id !== null) seen.requestId = id
        if (cost !== null) seen.costUsd = Number(cost)
      })
      const audio = await client.call("audio.speech", { body })
      return { urls: [URL.createObjectURL(audio)], ...seen }
    })
  return (
    <MediaLayout
      label="speech"
      code={
        showsCode ? (
          <MediaCode call={{ kind: "speech", body: filled(body, "input", "Hello!") }} onClose={onCode} />
        ) : null
      }
      action="Create speech"
      ready={input.trim() !== ""}
      estimate={input.trim() === "" ? undefined : { model, characters: Math.min([...input].length, 4_096) }}
      onMake={make}
      empty={
        items.length > 0
          ? undefined
          : { title: "Speech appears here.", about: "Only this page keeps it. Download it to keep it longer." }
      }
      gallery={items.map((one) => (
        <MediaCard
          key={one.id}
          of={one}
          shape="sound"
          show={(url) => (
            <div className="body">
              <audio controls src={url} aria-label={one.prompt} />
              <a className="small" href={url} download="speech.mp3">
                Download
              </a>
            </div>
          )}
        />
      ))}
      fields={
        <>
          <Model model={model} models={models} onModel={onModel} />
          <Prompt label="Text" placeholder="The text to speak" value={input} onChange={setInput} />
          <div className="grid pair">
            <OptionalSelect
              label="Voice"
              absent="alloy"
              options={voices.slice(1).map((value) => ({ value, name: value }))}
              value={voice === "alloy" ? undefined : voice}
              onChange={(value) => setVoice(value ?? "alloy")}
            />
            <NumberField label="Speed" range={[0.25, 4, 0.25]} value={speed} onChange={setSpeed} />
          </div>
        </>
      }
    />
  )
}
