import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { clientWithKey } from "../../data/Client.ts"
import { videosQuery } from "../../data/Jobs.ts"
import { OptionalSelect } from "../../parts/Fields.tsx"
import { Failed } from "../../parts/States.tsx"
import { VideoCard } from "../videos/VideoCard.tsx"
import { MediaLayout } from "./MediaLayout.tsx"
import { filled, type MediaTabProps, Model, Prompt } from "./MediaTabs.tsx"
import { MediaCode } from "./RequestCode.tsx"

const SHOWN = 12
const VIDEO = "A kite over the sea"
const seconds = [4, 5, 6, 8, 10, 12, 15]

/** Creates videos. The gallery shows the videos of the account with their progress. */
export const VideoTab = ({ model, models, onCode, onModel, showsCode }: MediaTabProps) => {
  const client = useQueryClient()
  const videos = useQuery(videosQuery(SHOWN))
  const [prompt, setPrompt] = useState("")
  const [length, setLength] = useState(8)
  const [tall, setTall] = useState(false)
  const body = { model, prompt, duration: length, aspect_ratio: tall ? "9:16" : "16:9" } as const
  const submit = useMutation({
    mutationFn: (key: string) => clientWithKey(key).call("videos.create", { body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["videos"] })
  })
  return (
    <MediaLayout
      label="videos"
      code={
        showsCode ? <MediaCode call={{ kind: "video", body: filled(body, "prompt", VIDEO) }} onClose={onCode} /> : null
      }
      action={submit.isPending ? "Submitting…" : "Create video"}
      ready={prompt.trim() !== "" && !submit.isPending}
      estimate={prompt.trim() === "" ? undefined : { model, duration: length }}
      onMake={(key) => submit.mutate(key)}
      empty={
        videos.data === undefined || videos.data.length > 0
          ? undefined
          : {
              title: "Videos appear here.",
              about: "A video takes a minute or more. You can leave this page while it runs."
            }
      }
      gallery={videos.data?.map((one) => (
        <VideoCard key={one.id} of={one} />
      ))}
      fields={
        <>
          {submit.isError ? <Failed error={submit.error} /> : null}
          <Model model={model} models={models} onModel={onModel} />
          <Prompt label="Prompt" placeholder={VIDEO} value={prompt} onChange={setPrompt} />
          <div className="grid pair">
            <OptionalSelect
              label="Length"
              absent="8 seconds"
              options={seconds
                .filter((one) => one !== 8)
                .map((one) => ({ value: String(one), name: `${one} seconds` }))}
              value={length === 8 ? undefined : String(length)}
              onChange={(value) => setLength(Number(value ?? 8))}
            />
            <OptionalSelect
              label="Aspect ratio"
              absent="wide, 16:9"
              options={[{ value: "tall", name: "tall, 9:16" }]}
              value={tall ? "tall" : undefined}
              onChange={(value) => setTall(value === "tall")}
            />
          </div>
        </>
      }
    />
  )
}
