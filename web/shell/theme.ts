import { signal } from '@preact/signals'

type Theme = 'light' | 'dark'

const key = 'waymark theme'
const systemTheme = matchMedia('(prefers-color-scheme: dark)')

/** The theme of the page: the person's choice, else that of the system. */
export const theme = signal<Theme>(currentTheme())

systemTheme.addEventListener('change', () => {
  theme.value = currentTheme()
})

function currentTheme(): Theme {
  const chosen = document.documentElement.dataset['theme']
  if (chosen === 'dark' || chosen === 'light') return chosen
  return systemTheme.matches ? 'dark' : 'light'
}

/** Switches between light and dark, and remembers the choice. */
export function switchTheme(): void {
  const next = currentTheme() === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset['theme'] = next
  theme.value = next
  try {
    localStorage.setItem(key, next)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
