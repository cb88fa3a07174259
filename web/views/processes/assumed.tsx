import type { ProcessDefinition } from '../../../src/domain/gate/definition.ts'

interface AssumedProps {
  readonly definition: ProcessDefinition
  readonly satisfied: readonly string[]
  readonly change: (satisfied: readonly string[]) => void
}

/** Guards and artifacts that count as satisfied: a simulation looks at no facts and reads no files. */
export function Assumed({ definition, satisfied, change }: AssumedProps) {
  const required = new Set(definition.states.flatMap(({ requiredArtifacts }) => requiredArtifacts))
  const names = [...definition.guards.map(({ name }) => name), ...required]
  if (names.length === 0) return null
  const all = names.every((name) => satisfied.includes(name))
  return (
    <fieldset class="assumed run-section">
      <legend>Suppose that these hold</legend>
      <label>
        <input type="checkbox" checked={all} onChange={() => change(all ? [] : names)} /> <b>all of them</b>
      </label>
      {names.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={satisfied.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              change(checked ? [...satisfied, name] : satisfied.filter((other) => other !== name))
            }
          />{' '}
          <span class="mono">{name}</span>
        </label>
      ))}
    </fieldset>
  )
}
