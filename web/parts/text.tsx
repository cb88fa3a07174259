import { useState } from 'preact/hooks'

/** A text of a person or agent. Text between backticks is code; nothing else is markup. */
export function Prose({ text }: { readonly text: string }) {
  const parts = text.split(/`([^`\n]+)`/)
  return <>{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
}

/** The first letters of an id. Commands take such a prefix too. */
export function shortId(id: string): string {
  const [run] = /^run-[0-9a-f]{8}/.exec(id) ?? []
  if (run !== undefined) return run
  return /^[a-z]{1,2}-[a-z0-9]{8,}$/.test(id) ? id.slice(0, id.indexOf('-') + 5) : id
}

/** Copies a text, and confirms it for a moment. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [status, setStatus] = useState<string | null>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setStatus('Copied')
    } catch {
      setStatus('Not allowed')
    }
    setTimeout(() => setStatus(null), 1_500)
  }
  return (
    <button type="button" class="button" data-kind="plain" aria-live="polite" onClick={() => void copy()}>
      {status ?? label}
    </button>
  )
}
