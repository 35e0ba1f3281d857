/** The pages of owners, for the rail and the palette. */
import type { IconName } from "../parts/Icons.tsx"

export interface PageEntry {
  readonly to: string
  readonly name: string
  readonly icon: IconName
}

/** The pages in the groups and in the order of the rail. */
export const railGroups: ReadonlyArray<ReadonlyArray<PageEntry>> = [
  [
    { to: "/overview", name: "Overview", icon: "overview" },
    { to: "/explorer", name: "Explorer", icon: "explorer" },
    { to: "/requests", name: "Requests", icon: "requests" },
    { to: "/playground", name: "Playground", icon: "playground" }
  ],
  [
    { to: "/models", name: "Models", icon: "models" },
    { to: "/presets", name: "Presets", icon: "presets" }
  ],
  [
    { to: "/keys", name: "Keys", icon: "keys" },
    { to: "/projects", name: "Projects", icon: "projects" },
    { to: "/webhooks", name: "Webhooks", icon: "webhooks" }
  ],
  [
    { to: "/batches", name: "Batches", icon: "batches" },
    { to: "/videos", name: "Videos", icon: "videos" }
  ],
  [
    { to: "/billing", name: "Billing", icon: "billing" },
    { to: "/audit", name: "Audit", icon: "audit" },
    { to: "/settings", name: "Settings", icon: "settings" }
  ]
]
