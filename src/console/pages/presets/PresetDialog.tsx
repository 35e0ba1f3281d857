import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { TollgateError } from "../../../client/Package.ts"
import type { Preset, PresetConfig } from "../../../client/Contract.ts"
import { api, wordsOf } from "../../data/Client.ts"
import { presetsQuery } from "../../data/Queries.ts"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Diff } from "../../parts/Diff.tsx"
import { Field, NameField } from "../../parts/Fields.tsx"
import { toast } from "../../parts/Toasts.tsx"
import { differences } from "../../data/Differences.ts"

const example: PresetConfig = { model: "gpt-4o-mini", instructions: "Answer in one short sentence.", max_tokens: 100 }

/** Parses a config. Returns the error if it is not a JSON object. */
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
    hint={
      <>
        Fields of a chat completion, and <code>instructions</code>. A change becomes the next version.
      </>
    }
    wrong={wrong}
  >
    {(props) => (
      <textarea
        {...props}
        className="input mono"
        rows={12}
        spellCheck={false}
        value={text}
        onChange={(event) => onText(event.target.value)}
      />
    )}
  </Field>
)

/** Creates a preset, or edits one. A changed config becomes its next version. */
export const PresetDialog = ({ of, onClose }: { readonly of: Preset | undefined; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [slug, setSlug] = useState(of?.slug ?? "")
  const [name, setName] = useState(of?.name ?? "")
  const [description, setDescription] = useState(of?.description ?? "")
  const [text, setText] = useState(JSON.stringify(of?.config ?? example, null, 2))
  const read = parsed(text)
  const changes = of !== undefined && "config" in read ? differences(read.config, of.config) : []
  const save = useMutation({
    mutationFn: (config: PresetConfig) => {
      const about = { name, description: description.trim() === "" ? null : description }
      return of === undefined
        ? api.call("management.presets.create", { body: { slug, ...about, config } })
        : api.call("management.presets.update", {
            path: { slug: of.slug },
            // An unchanged config would create a version without a change.
            body: { ...about, ...(changes.length === 0 ? {} : { config }) }
          })
    },
    onSuccess: async ({ data }) => {
      await client.invalidateQueries(presetsQuery)
      toast(`@${data.slug} now uses version ${data.active_version}.`)
      onClose()
    }
  })
  const wrong = "wrong" in read ? read.wrong : save.error === null ? undefined : detailsOf(save.error)
  return (
    <FormDialog
      wide
      title={of === undefined ? "Create a preset" : `Edit @${of.slug}`}
      action={of === undefined ? "Create preset" : changes.length > 0 ? "Save as the next version" : "Save"}
      busy={save.isPending}
      ready={"config" in read}
      onSubmit={() => "config" in read && save.mutate(read.config)}
      onClose={onClose}
    >
      <div className="grid pair">
        <Field
          label="Slug"
          hint={of === undefined ? "Requests name it with an @ in front." : "You cannot change the slug."}
        >
          {(props) => (
            <input
              {...props}
              className="input mono"
              required
              pattern="[a-z0-9][a-z0-9\-]{0,62}"
              title="1 to 63 lowercase letters, digits and dashes"
              disabled={of !== undefined}
              autoFocus={of === undefined}
              value={slug}
              onChange={(event) => setSlug(event.target.value)}
            />
          )}
        </Field>
        <NameField autoFocus={of !== undefined} value={name} onChange={setName} />
      </div>
      <Field label="Description" hint="Shown in the list of presets.">
        {(props) => (
          <input
            {...props}
            className="input"
            maxLength={1_024}
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        )}
      </Field>
      <ConfigField text={text} wrong={wrong} onText={setText} />
      {changes.length === 0 ? null : <Diff label="What this version changes" lines={changes} />}
    </FormDialog>
  )
}
