import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { TollgateError } from "../../../client/Package.ts"
import type { Preset, PresetConfig } from "../../../client/Contract.ts"
import { api, wordsOf } from "../../data/Client.ts"
import { presetsQuery } from "../../data/Queries.ts"
import { Dialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { toast } from "../../parts/Toasts.tsx"

const begin: PresetConfig = { model: "gpt-4o-mini", instructions: "Answer in one short sentence.", max_tokens: 100 }

/** The config that a text spells, or what is wrong with the text. */
const parsed = (text: string): { readonly config: PresetConfig } | { readonly wrong: string } => {
  try {
    const config: unknown = JSON.parse(text)
    return typeof config === "object" && config !== null && !Array.isArray(config)
      ? { config }
      : { wrong: "The config must be a JSON object." }
  } catch (error) {
    return { wrong: `The config must be JSON: ${(error as Error).message}.` }
  }
}

const detailsOf = (error: Error): string => {
  const details = error instanceof TollgateError ? error.details : []
  return details.length === 0
    ? wordsOf(error).message
    : details.map(({ field, message }) => `${field}: ${message}`).join("; ")
}

interface ConfigFieldProps {
  readonly text: string
  readonly wrong: string | undefined
  readonly onText: (text: string) => void
}

const ConfigField = ({ onText, text, wrong }: ConfigFieldProps) => (
  <Field
    label="Config"
    hint="Fields of a chat completion, and `instructions`. A change becomes the next version."
    wrong={wrong}
  >
    {(props) => (
      <textarea
        {...props}
        className="input mono"
        rows={12}
        spellCheck={false}
        aria-invalid={wrong !== undefined}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    )}
  </Field>
)

/** Creates a preset, or gives one another version. */
export const PresetDialog = ({ of, onClose }: { readonly of: Preset | undefined; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [slug, setSlug] = useState(of?.slug ?? "")
  const [name, setName] = useState(of?.name ?? "")
  const [text, setText] = useState(JSON.stringify(of?.config ?? begin, null, 2))
  const read = parsed(text)
  const save = useMutation({
    mutationFn: (config: PresetConfig) =>
      of === undefined
        ? api.call("management.presets.create", { body: { slug, name, config } })
        : api.call("management.presets.update", { path: { slug: of.slug }, body: { name, config } }),
    onSuccess: async ({ data }) => {
      await client.invalidateQueries(presetsQuery)
      toast(`@${data.slug} is at version ${data.active_version}.`)
      onClose()
    }
  })
  const wrong = "wrong" in read ? read.wrong : save.error === null ? undefined : detailsOf(save.error)
  return (
    <Dialog wide title={of === undefined ? "Create a preset" : `Edit @${of.slug}`} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if ("config" in read) save.mutate(read.config)
        }}
      >
        <div className="grid two">
          <Field label="Slug" hint={of === undefined ? "Requests name it with an @ in front." : "It cannot change."}>
            {(props) => (
              <input
                {...props}
                className="input mono"
                required
                disabled={of !== undefined}
                autoFocus={of === undefined}
                value={slug}
                onChange={(event) => setSlug(event.target.value)}
              />
            )}
          </Field>
          <Field label="Name">
            {(props) => (
              <input
                {...props}
                className="input"
                required
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
        </div>
        <ConfigField text={text} wrong={wrong} onText={setText} />
        <div className="actions end">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={save.isPending || "wrong" in read}>
            {of === undefined ? "Create preset" : "Save as the next version"}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
