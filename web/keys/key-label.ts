const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

const labels: Readonly<Record<string, string>> = {
  'mod+k': isMac ? '⌘K' : 'Ctrl K',
  Enter: '↵',
  Escape: 'Esc',
  Space: 'Space',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  'alt+ArrowUp': isMac ? '⌥↑' : 'Alt ↑',
  'alt+ArrowDown': isMac ? '⌥↓' : 'Alt ↓',
}

/** How a key is written: `⌘K` on a Mac, `Ctrl K` elsewhere. */
export function keyLabel(key: string): string {
  return labels[key] ?? (key.length === 1 ? key.toUpperCase() : key)
}
