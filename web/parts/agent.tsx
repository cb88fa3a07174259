import { agentHue, monogram } from './agent-hue.ts'
import './agent.css'

/** Who: a monogram in the agent's own hue, and its name. */
export function Agent({ name }: { readonly name: string }) {
  return (
    <span class="agent">
      <span class="agent-mark" style={{ '--hue': String(agentHue(name)) }} aria-hidden="true">
        {monogram(name)}
      </span>
      <span class="cut">{name}</span>
    </span>
  )
}
