/** The keys of a command, as they are on the keyboard. */
export function KeyCap({ keys }: { readonly keys: string }) {
  return (
    <>
      {keys.split(' ').map((key) => (
        <kbd class="key" key={key}>
          {keyLabel(key)}
        </kbd>
      ))}
    </>
  )
}

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
  'mod+Enter': isMac ? '⌘↵' : 'Ctrl ↵',
  'alt+ArrowUp': isMac ? '⌥↑' : 'Alt ↑',
  'alt+ArrowDown': isMac ? '⌥↓' : 'Alt ↓',
}

/** How a key is written: `⌘K` on a Mac, `Ctrl K` elsewhere. */
function keyLabel(key: string): string {
  const isShifted = key.length === 1 && key !== key.toLowerCase()
  return labels[key] ?? (isShifted ? `⇧${key}` : key.length === 1 ? key.toUpperCase() : key)
}
