import { useEffect, useRef, useState } from "react"

const TYPING_MS = 300

/**
 * Returns a function that runs an action after a delay. A later action replaces an earlier one. An action waits while a pointer is down,
 * because the press takes the focus from the field: a filter that changed the rows then would remove the pressed row before its click.
 * No action runs after the user has left the page.
 */
const useDelay = () => {
  const { current: delay } = useRef<{
    action?: (() => void) | undefined
    timer?: ReturnType<typeof setTimeout>
    isDown: boolean
    path: string
  }>({ isDown: false, path: location.pathname })
  const fire = () => {
    const { action, isDown, path } = delay
    if (isDown || action === undefined) return
    delay.action = undefined
    if (location.pathname === path) action()
  }
  useEffect(() => {
    const press = () => {
      delay.isDown = true
    }
    // The click follows the release and may lead to another page.
    const release = () => {
      delay.isDown = false
      if (delay.action === undefined) return
      clearTimeout(delay.timer)
      delay.timer = setTimeout(fire)
    }
    const releases = ["pointerup", "pointercancel", "dragend"]
    window.addEventListener("pointerdown", press, true)
    for (const type of releases) window.addEventListener(type, release, true)
    return () => {
      clearTimeout(delay.timer)
      window.removeEventListener("pointerdown", press, true)
      for (const type of releases) window.removeEventListener(type, release, true)
    }
  }, [])
  return (action: () => void, ms: number) => {
    clearTimeout(delay.timer)
    delay.action = action
    delay.timer = setTimeout(fire, ms)
  }
}

interface FilterFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly placeholder?: string
  readonly maxLength?: number
  /** Whether the filter also applies when the user pauses, and whether `/` goes to this field. */
  readonly isSearch?: boolean
}

/** A field that filters a list. The filter applies on Enter and when the field loses the focus. */
export const FilterField = (props: FilterFieldProps) => {
  const { isSearch = false, label, maxLength = 200, onChange, placeholder = label, value } = props
  const [text, setText] = useState(value)
  const [known, setKnown] = useState(value)
  const sent = useRef(value)
  const delay = useDelay()
  // The value changed elsewhere, for example by the browser's back button.
  if (value !== known) {
    setKnown(value)
    if (value !== sent.current) setText(value)
    sent.current = value
  }
  const apply = (typed: string, ms = 0) =>
    delay(() => {
      if (typed.trim() === sent.current) return
      sent.current = typed.trim()
      onChange(sent.current)
    }, ms)
  return (
    <input
      className={isSearch ? "input grow" : "input"}
      type="search"
      data-search={isSearch ? "" : undefined}
      aria-label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      spellCheck={false}
      value={text}
      onBlur={() => apply(text)}
      onKeyDown={({ key }) => {
        if (key === "Enter") apply(text)
      }}
      onChange={({ target }) => {
        setText(target.value)
        if (isSearch) apply(target.value, TYPING_MS)
      }}
    />
  )
}
