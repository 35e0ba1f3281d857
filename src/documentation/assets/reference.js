// Shows the published document. The key that a reader types stays in this page.
const { theme } = document.documentElement.dataset
const dark = theme === undefined ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark"

/** The reference's colours and fonts by the tokens of style.css. */
const tokens = {
  "background-1": "var(--bg)",
  "background-2": "var(--surface)",
  "background-3": "var(--tint)",
  "background-accent": "var(--tint)",
  "border-color": "var(--line)",
  "color-1": "var(--text)",
  "color-2": "var(--muted)",
  "color-3": "var(--muted)",
  "color-accent": "var(--accent)",
  "sidebar-background-1": "var(--bg)",
  "sidebar-border-color": "var(--line)",
  "sidebar-color-1": "var(--text)",
  "sidebar-color-2": "var(--muted)",
  "sidebar-color-active": "var(--accent)",
  "sidebar-item-active-background": "var(--tint)",
  "sidebar-item-hover-background": "var(--tint)",
  font: "Inter, system-ui, sans-serif",
  "font-code": "'JetBrains Mono', monospace"
}
const rules = Object.entries(tokens).map(([name, value]) => `--scalar-${name}: ${value};`)

window.Scalar.createApiReference(document.getElementById("reference"), {
  url: "/api/v1/openapi.json",
  // The gateway may have other addresses than the one in the document, and the page may call only its own.
  servers: [{ url: location.origin, description: "This gateway." }],
  _integration: "html",
  darkMode: dark,
  hideDarkModeToggle: true,
  withDefaultFonts: false,
  theme: "default",
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  authentication: { preferredSecurityScheme: "bearer" },
  customCss: `.scalar-app, .light-mode, .dark-mode { ${rules.join(" ")} }`
})
