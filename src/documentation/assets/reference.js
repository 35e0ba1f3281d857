// Shows the published document. The key that a reader types stays in this page.
const theme = localStorage.getItem("theme")
const dark = theme === null ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark"
window.Scalar.createApiReference(document.getElementById("reference"), {
  url: "/api/v1/openapi.json",
  _integration: "html",
  darkMode: dark,
  hideDarkModeToggle: true,
  withDefaultFonts: false,
  theme: "default",
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  customCss:
    ".scalar-app { --scalar-font: Inter, system-ui, sans-serif; --scalar-font-code: 'JetBrains Mono', monospace; }"
})
