import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { ListPage } from "../../app/ListPage.tsx"
import { isVideoRunning, videosQuery } from "../../data/Jobs.ts"
import { plural } from "../../format/Words.ts"
import { Segments } from "../../parts/Fields.tsx"
import { VideoCard } from "./VideoCard.tsx"

const make = (
  <Link className="button primary" to="/playground" search={{ tab: "video" }}>
    Make a video
  </Link>
)

export const VideosPage = () => {
  const { status = "all" } = useSearch({ from: "/shell/videos" })
  const navigate = useNavigate({ from: "/videos" })
  const videos = useQuery(videosQuery())
  const running = videos.data?.filter(isVideoRunning).length ?? 0
  return (
    <ListPage
      cards
      title="Videos"
      query={videos}
      chosen={(video) => status === "all" || (status === "running" ? isVideoRunning(video) : video.status === status)}
      tools={
        <>
          {running === 0 ? null : <span className="badge info">{plural(running, "video")} running</span>}
          <Segments
            label="Status"
            value={status}
            options={[
              { value: "all", name: "All" },
              { value: "running", name: "Running" },
              { value: "completed", name: "Completed" },
              { value: "failed", name: "Failed" }
            ]}
            onChange={(next) => void navigate({ search: next === "all" ? {} : { status: next }, replace: true })}
          />
          {make}
        </>
      }
      empty={{
        title: status === "all" ? "There is no video yet." : "No video has this status.",
        about:
          "A video is a job: a key submits it, the price is charged at once, and all of it comes back when the job fails. A submitted video cannot be cancelled, because its provider bills it.",
        action: status === "all" ? make : null
      }}
    >
      {(rows) => (
        <div className="gallery">
          {rows.map((video) => (
            <VideoCard key={video.id} of={video} />
          ))}
        </div>
      )}
    </ListPage>
  )
}
