import { useQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { Page } from "../../app/Page.tsx"
import { modelsQuery } from "../../data/Queries.ts"
import { Segments } from "../../parts/Fields.tsx"
import { ChatTab } from "./ChatTab.tsx"
import { ImageTab, SpeechTab } from "./MediaTabs.tsx"
import { VideoTab } from "./VideoTab.tsx"

export const tabs = ["chat", "image", "speech", "video"] as const
type Tab = (typeof tabs)[number]

const USUAL_CHAT = "gpt-4o-mini"
const usual: Readonly<Record<Exclude<Tab, "chat">, string>> = { image: "flux-dev", speech: "tts-1", video: "veo-3" }
const modalities = { image: "image", speech: "audio", video: "video" } as const
const MOST = 3

/** The page that sends requests to models: chat, images, speech and videos. */
export const PlaygroundPage = () => {
  const { beside = "", model, tab = "chat" } = useSearch({ from: "/shell/playground" })
  const navigate = useNavigate({ from: "/playground" })
  const { data: models = [] } = useQuery(modelsQuery)
  const [showsCode, setShowsCode] = useState(false)
  const chosen = [model ?? USUAL_CHAT, ...beside.split(",").filter((id) => id !== "")].slice(0, MOST)
  const media = () => {
    if (tab === "chat") return null
    const able = models.filter(({ modality, servable }) => modality === modalities[tab] && servable)
    const own = model ?? able.find(({ id }) => id === usual[tab])?.id ?? able[0]?.id ?? usual[tab]
    const props = {
      models: able,
      model: own,
      onModel: (next: string) => void navigate({ search: { tab, model: next }, replace: true }),
      showsCode,
      onCode: () => setShowsCode(false)
    }
    return tab === "image" ? (
      <ImageTab {...props} />
    ) : tab === "speech" ? (
      <SpeechTab {...props} />
    ) : (
      <VideoTab {...props} />
    )
  }
  return (
    <Page
      title="Playground"
      tools={
        <>
          <Segments
            label="Kind"
            value={tab}
            options={[
              { value: "chat", name: "Chat" },
              { value: "image", name: "Image" },
              { value: "speech", name: "Speech" },
              { value: "video", name: "Video" }
            ]}
            onChange={(next) => void navigate({ search: next === "chat" ? {} : { tab: next } })}
          />
          <button type="button" className="button" onClick={() => setShowsCode(true)}>
            View code
          </button>
        </>
      }
    >
      {tab === "chat" ? (
        <ChatTab
          models={models}
          chosen={chosen}
          onChosen={([first = USUAL_CHAT, ...others]) =>
            void navigate({
              search: { model: first, ...(others.length === 0 ? {} : { beside: others.join(",") }) },
              replace: true
            })
          }
          showsCode={showsCode}
          onCode={() => setShowsCode(false)}
        />
      ) : (
        media()
      )}
    </Page>
  )
}
