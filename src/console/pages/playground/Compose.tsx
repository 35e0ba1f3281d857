import {
  type ClipboardEvent,
  type DragEvent,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useRef,
  useState
} from "react"
import { bytes } from "../../format/Figures.ts"
import { Icon } from "../../parts/Icons.tsx"
import { toast } from "../../parts/Toasts.tsx"
import type { Turn } from "./Messages.ts"

const MAX_IMAGES = 4
/** The largest image in bytes. A request holds a third more, because of base64. */
const MAX_BYTES = 12_000_000

const dataUrlOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve(reader.result as string))
    reader.addEventListener("error", () => reject(reader.error ?? new Error("unreadable")))
    reader.readAsDataURL(file)
  })

/** The images of the draft. A toast says why an image was not added. */
const useImages = () => {
  const [images, setImages] = useState<ReadonlyArray<string>>([])
  // Files are read one after the other, and each needs to know how many images there are by then.
  const latest = useRef(images)
  const set = (next: ReadonlyArray<string>) => {
    latest.current = next
    setImages(next)
  }
  const add = async (files: Iterable<File>) => {
    for (const file of files) {
      if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type)) toast(`${file.name} must be a PNG, JPEG, GIF or WebP image.`)
      else if (file.size > MAX_BYTES)
        toast(`${file.name} must be at most ${bytes(MAX_BYTES)}; it has ${bytes(file.size)}.`)
      else {
        const url = await dataUrlOf(file).catch(() => undefined)
        if (url === undefined) toast(`The browser could not read ${file.name}. Choose it again.`)
        else if (latest.current.length < MAX_IMAGES) set([...latest.current, url])
        else toast(`A message can have at most ${MAX_IMAGES} images. Remove one to add another.`)
      }
    }
  }
  return { images, add, remove: (at: number) => set(images.filter((_, index) => index !== at)), set }
}

interface ComposeProps {
  readonly ready: boolean
  readonly running: boolean
  /** The estimated cost of the draft, or why it cannot be sent. */
  readonly estimate: ReactNode
  readonly text: string
  readonly onText: (text: string) => void
  readonly onSend: (turn: Turn) => void
  readonly onStop: () => void
}

/** The form for a message. Users drop, paste or choose its images. */
export const Compose = ({ estimate, onSend, onStop, onText, ready, running, text }: ComposeProps) => {
  const { add, images, remove, set } = useImages()
  const can = ready && !running && (text.trim() !== "" || images.length > 0)
  const send = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault()
    if (!can) return
    onSend({ role: "user", content: text, ...(images.length === 0 ? {} : { images }) })
    onText("")
    set([])
  }
  const paste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return
    event.preventDefault()
    void add(event.clipboardData.files)
  }
  const drop = (event: DragEvent) => {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    void add(event.dataTransfer.files)
  }
  return (
    <form className="compose" onSubmit={send} onDrop={drop} onDragOver={(event) => event.preventDefault()}>
      {images.length === 0 ? null : (
        <div className="thumbs">
          {images.map((image, at) => (
            <button key={image} type="button" aria-label={`Remove image ${at + 1}`} onClick={() => remove(at)}>
              <img src={image} alt="" />
              <Icon name="close" />
            </button>
          ))}
        </div>
      )}
      <textarea
        className="input"
        data-search=""
        aria-label="Message"
        placeholder="Ask something, or drop an image"
        rows={3}
        value={text}
        onPaste={paste}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) send(event)
        }}
      />
      <div className="send">
        <span className="small muted">{estimate}</span>
        <label className="button plain square" title="Add images">
          <Icon name="picture" />
          <span className="unseen">Add images</span>
          <input
            className="unseen"
            type="file"
            multiple
            accept="image/png,image/jpeg,image/gif,image/webp"
            onChange={({ target }) => {
              void add(target.files ?? [])
              target.value = ""
            }}
          />
        </label>
        {running ? (
          <button type="button" className="button" onClick={onStop}>
            <Icon name="stop" />
            Stop
          </button>
        ) : (
          <button type="submit" className="button primary" disabled={!can}>
            <Icon name="send" />
            Send
          </button>
        )}
      </div>
    </form>
  )
}
