/** A person's or an agent's text as it is; what stands between backticks is code. Never markup. */
export function Prose({ text }: { readonly text: string }) {
  const parts = text.split(/`([^`\n]+)`/)
  return <>{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
}
