import type { ProcessDefinition } from '../../../src/domain/gate/definition.ts'
import { assumableNames } from '../../../src/domain/gate/simulate.ts'

interface AssumedProps {
  readonly definition: ProcessDefinition
  readonly satisfied: readonly string[]
  readonly change: (satisfied: readonly string[]) => void
}

/** Guards and artifacts that count as satisfied: a simulation looks at no facts and reads no files. */
export function Assumed({ definition, satisfied, change }: AssumedProps) {
  const names = assumableNames(definition)
  if (names.length === 0) return null
  const holding = names.filter((name) => !name.startsWith('not '))
  const all = holding.every((name) => satisfied.includes(name))
  return (
    <fieldset class="assumed run-section">
      <legend>Suppose that these hold</legend>
      <label>
        <input type="checkbox" checked={all} onChange={() => change(all ? [] : holding)} /> <b>all of them</b>
      </label>
      {names.map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={satisfied.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              change(
                checked
                  ? [...satisfied.filter((other) => other !== opposite(name)), name]
                  : satisfied.filter((other) => other !== name),
              )
            }
          />{' '}
          <span class="mono">{name}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** A guard holds or fails, not both. */
function opposite(name: string): string {
  return name.startsWith('not ') ? name.slice('not '.length) : `not ${name}`
}
