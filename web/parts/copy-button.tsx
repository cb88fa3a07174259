import { useState } from 'preact/hooks'

/** Copies a text, and says for a moment that it did. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [said, setSaid] = useState<string | null>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      setSaid('Not allowed')
    }
    window.setTimeout(() => setSaid(null), 1_500)
  }
  return (
    <button type="button" class="button" data-kind="plain" aria-live="polite" onClick={() => void copy()}>
      {said ?? label}
    </button>
  )
}
