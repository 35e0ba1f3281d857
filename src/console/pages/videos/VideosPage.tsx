import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { ListPage } from "../../app/ListPage.tsx"
import { isVideoRunning, MAX_JOBS, videosQuery } from "../../data/Jobs.ts"
import { plural } from "../../format/Words.ts"
import { Segments } from "../../parts/Fields.tsx"
import { VideoCard } from "./VideoCard.tsx"

const createLink = (
  <Link className="button primary" to="/playground" search={{ tab: "video" }}>
    Create video
  </Link>
)

/** The page that lists the videos of the account. */
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
      most={MAX_JOBS}
      filter={(video) => status === "all" || (status === "running" ? isVideoRunning(video) : video.status === status)}
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
          {createLink}
        </>
      }
      empty={{
        title: status === "all" ? "There is no video yet." : "No video has this status.",
        about:
          "The gateway charges the price of a video at once and refunds all of it if the video fails. You cannot cancel a video, because its provider charges for it.",
        action: status === "all" ? createLink : null
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
