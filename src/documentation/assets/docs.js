// The switch of the theme, the menu on phones, the copy buttons and the search. Without this script every page still reads well.
const root = document.documentElement

document.getElementById("theme").addEventListener("click", () => {
  const shown = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")
  root.dataset.theme = shown === "dark" ? "light" : "dark"
  try {
    localStorage.setItem("theme", root.dataset.theme)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
})

const nav = document.getElementById("nav")
const menu = document.getElementById("menu")
const openMenu = (open) => {
  nav.classList.toggle("open", open)
  menu.setAttribute("aria-expanded", String(open))
}
menu.addEventListener("click", () => {
  openMenu(!nav.classList.contains("open"))
  showCurrent()
})
nav.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return
  openMenu(false)
  menu.focus()
})

// The list of pages is longer than a window: it begins where the reader is.
const showCurrent = () => {
  const current = nav.querySelector("[aria-current]")
  if (current !== null) nav.scrollTop = Math.max(0, current.offsetTop - nav.clientHeight / 2)
}
showCurrent()

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.nextElementSibling.textContent)
    button.textContent = "Copied"
    setTimeout(() => (button.textContent = "Copy"), 1500)
  })
}

const input = document.getElementById("search")
const results = document.getElementById("results")
let entries

const load = async () => (entries ??= await (await fetch("/docs/search.json")).json())

const scoreOf = (entry, words) => {
  let score = 0
  for (const word of words) {
    const inTitle = entry.title.toLowerCase().includes(word)
    const heading = entry.headings.some(([, text]) => text.toLowerCase().includes(word))
    const inText = entry.text.toLowerCase().includes(word)
    if (!inTitle && !heading && !inText) return 0
    score += inTitle ? 10 : heading ? 4 : 1
  }
  return score
}

const excerpt = (text, word) => {
  const found = text.toLowerCase().indexOf(word)
  if (found < 24) return text.slice(0, 120)
  // Little before the word, so that it is in sight on a phone, and no half of a word.
  const at = text.indexOf(" ", found - 20) + 1
  return `… ${text.slice(at > 0 && at <= found ? at : found, found + 100)}`
}

const show = (found, words) => {
  results.replaceChildren(
    ...found.map(({ headings, path, section, text, title }) => {
      const heading = headings.find(([, one]) => words.some((word) => one.toLowerCase().includes(word)))
      const link = document.createElement("a")
      link.href = `/docs/${path}${heading ? `#${heading[0]}` : ""}`
      link.textContent = heading ? `${title} › ${heading[1]}` : title
      const more = document.createElement("span")
      more.textContent = `${section} · ${excerpt(text, words[0])}`
      link.append(more)
      const item = document.createElement("li")
      item.append(link)
      return item
    })
  )
  if (found.length === 0) {
    const none = document.createElement("p")
    none.textContent = "No page has these words."
    results.append(none)
  }
  results.hidden = false
}

input.addEventListener("input", async () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return void (results.hidden = true)
  const all = await load()
  const scored = all.map((entry) => [scoreOf(entry, words), entry]).filter(([score]) => score > 0)
  scored.sort(([a], [b]) => b - a)
  show(
    scored.slice(0, 8).map(([, entry]) => entry),
    words
  )
})

const links = () => [...results.querySelectorAll("a")]

input.addEventListener("keydown", (event) => {
  if (event.key === "Escape") results.hidden = true
  if (event.key === "ArrowDown") {
    event.preventDefault()
    links()[0]?.focus()
  }
  if (event.key === "Enter") links()[0]?.click()
})

results.addEventListener("keydown", (event) => {
  const at = links().indexOf(document.activeElement)
  if (event.key === "Escape") input.focus()
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  event.preventDefault()
  ;(links()[at + (event.key === "ArrowDown" ? 1 : -1)] ?? input).focus()
})

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "")
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  input.focus()
})

document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) results.hidden = true
})
