const paths = {
  overview: "M2.5 8.5h4v5h-4zM9.5 2.5h4v11h-4zM2.5 2.5h4v3h-4z",
  explorer: "M2.5 2.5v11h11M5.5 11V8M8.5 11V4.5M11.5 11V6.5",
  requests: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  playground: "M2.5 3h11v8h-6l-3 2.5V11h-2z",
  models: "M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6",
  presets: "M3 4.5h6M12 4.5h1M3 11.5h1M7 11.5h6M10.5 3v3M5.5 10v3",
  keys: "M10.5 8.5a3 3 0 1 0-2.9-2.2L2.5 11.5v2h2v-1.5h1.5v-1.5H8l.8-1.4",
  projects: "M2.5 4h4l1.5 2h5.5v7h-11z",
  webhooks: "M8 6.5a2.5 2.5 0 1 0-2-1M6.5 5.5L4 10.5M9.5 6.5l2 4M4 13a2 2 0 1 0 0-3h8M12 13a2 2 0 1 0 0-3",
  billing: "M2 4h12v8.5H2zM2 7h12M4.5 10h2",
  audit: "M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2",
  settings:
    "M8 5.8A2.2 2.2 0 1 0 8 10.2 2.2 2.2 0 0 0 8 5.8M8 2v1.5M8 12.5V14M2 8h1.5M12.5 8H14M3.8 3.8l1 1M11.2 11.2l1 1M3.8 12.2l1-1M11.2 4.8l1-1",
  docs: "M3 2.5h7l3 3v8H3zM10 2.5v3h3",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9M10.5 10.5L14 14",
  copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
  check: "M3 8.5l3.5 3.5L13 4.5",
  close: "M4 4l8 8M12 4l-8 8",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  sun: "M8 5.2A2.8 2.8 0 1 0 8 10.8 2.8 2.8 0 0 0 8 5.2M8 1.8v1M8 13.2v1M1.8 8h1M13.2 8h1M3.6 3.6l.7.7M11.7 11.7l.7.7M3.6 12.4l.7-.7M11.7 4.3l.7-.7",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  screen: "M2 3h12v8H2zM6 13.5h4",
  out: "M6.5 2.5h-4v11h4M10.5 5l3 3-3 3M13 8H6",
  plus: "M8 3v10M3 8h10",
  back: "M10 3.5L5.5 8l4.5 4.5",
  send: "M8 13.5v-11M3.5 7L8 2.5 12.5 7",
  picture: "M2.5 3h11v10h-11zM2.5 11l3.5-3.5 3 3 2-2 2.5 2.5M10.5 6h.01",
  batches: "M2.5 3h11v3h-11zM2.5 7.5h11v3h-11zM4.5 13h7",
  videos: "M2.5 3.5h11v9h-11zM7 6.2v3.6L10 8z",
  files: "M4 2.5h5l3 3v8H4zM9 2.5v3h3M6 8.5h4M6 10.5h4",
  download: "M8 2.5v8M4.5 7.5L8 11l3.5-3.5M3 13.5h10",
  people:
    "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.5.6 2.5 1.9 2.5 3.7",
  gauge: "M2.5 12.5a6 6 0 1 1 11 0M8 9.5l2.5-3.5M5 12.5h6",
  stop: "M4 4h8v8H4z"
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)
