// Runs before the first paint, so that a chosen theme never flashes into the other.
try {
  const theme = localStorage.getItem("theme")
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme
} catch {
  // A browser without storage follows the system.
}
