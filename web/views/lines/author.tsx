import { lineOwnerLabel, type ProvenanceRange } from '../../geometry/line-ranges.ts'
import { AgentMark } from '../../parts/agent.tsx'

/** Who lines are from: an agent's sign, or a shape for those who are none. The word stands beside it. */
export function Maker({ story }: { readonly story: ProvenanceRange }) {
  const { name, words, doubt } = lineOwnerLabel(story)
  return (
    <span class="maker">
      <MakerSign story={story} />
      <b class="maker-name cut">{name}</b>
      {doubt === '' ? null : <span class="maker-doubt">{doubt}</span>}
      <span class="maker-words cut muted">{words}</span>
    </span>
  )
}

/** Measured is solid; what nobody recorded is a hollow shape, never a person’s sign. */
export function MakerSign({ story: { kind, agent } }: { readonly story: ProvenanceRange }) {
  if (kind === 'agent') return <AgentMark name={agent ?? '?'} />
  return <span class="maker-shape" data-kind={kind} aria-hidden="true" />
}
