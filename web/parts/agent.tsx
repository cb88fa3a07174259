import './agent.css'

/** Who: a monogram in the agent's own hue, its name, and the person behind it where one is known. */
export function Agent({ name, person = null }: { readonly name: string; readonly person?: string | null }) {
  return (
    <span class="agent">
      <AgentMark name={name} />
      <span class="cut">{withPerson(name, person)}</span>
    </span>
  )
}

function withPerson(agent: string, person: string | null): string {
  return person === null ? agent : `${agent} (${person})`
}

/** The monogram alone, beside something that says the name. */
export function AgentMark({ name }: { readonly name: string }) {
  return (
    <span class="agent-mark" style={{ '--hue': String(agentHue(name)) }} aria-hidden="true">
      {monogram(name)}
    </span>
  )
}

/** A hue that an agent keeps, in degrees: steps of 15, so that two are told apart or the same. */
function agentHue(name: string): number {
  let hash = 2_166_136_261
  for (const unit of name) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 16_777_619) >>> 0
  // The last bits of this hash hardly mix for short names.
  return (((hash ^ (hash >>> 15)) >>> 0) % 24) * 15
}

/** Two letters for it: of its two first words, or the first two of its only one. */
function monogram(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const letters =
    words.length > 1 ? words.slice(0, 2).map(firstLetter) : Array.from(words[0] ?? '?').slice(0, 2)
  return letters.join('').toUpperCase()
}

function firstLetter(word: string): string {
  return Array.from(word)[0] ?? ''
}
