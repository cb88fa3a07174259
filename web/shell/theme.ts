const key = 'waymark theme'

/** Switches between light and dark, from whatever is shown, and remembers it. */
export function switchTheme(): void {
  const { dataset } = document.documentElement
  const shown = dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
  const next = shown === 'dark' ? 'light' : 'dark'
  dataset['theme'] = next
  try {
    localStorage.setItem(key, next)
  } catch {
    // Where nothing may be kept the choice lasts as long as the page.
  }
}
