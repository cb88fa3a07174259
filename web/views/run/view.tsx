import { useEffect, useMemo } from 'preact/hooks'
import { useCommands } from '../../keys/commands.ts'
import type { Frame } from '../../live/frame.ts'
import { useQuery } from '../../live/query.ts'
import { Failed } from '../../parts/failed.tsx'
import { MachineDiagram } from '../../parts/machine/machine.tsx'
import { transitionId } from '../../parts/machine/transition-id.ts'
import { shortId } from '../../parts/short-id.ts'
import { crumb } from '../../router/current.ts'
import { href } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { Artifacts } from './artifacts.tsx'
import { Facts } from './facts.tsx'
import { RunHeader } from './header.tsx'
import { RunHistory } from './history.tsx'
import { VerbsBar } from './verbs-bar.tsx'
import { Ways } from './ways.tsx'
import './run.css'

const mostEvents = 200

/** One run: where it stands, what each way out asks for, how it came here. */
export function View({ params }: ViewProps) {
  const id = params['id'] ?? ''
  const concerns = useMemo(() => (frame: Frame) => mayChange(frame, id), [id])
  const page = useQuery('run_page', { run_id: id }, concerns)
  const history = useQuery('run_history', { run_id: id, limit: mostEvents }, concerns)
  const shown = page.answer.value
  const past = history.answer.value
  const process = shown?.run.process_id
  useEffect(() => {
    if (process === undefined) return
    crumb.value = [{ text: process, href: href(`/processes/${process}`) }, { text: shortId(id) }]
  }, [process, id])
  useCommands({ 'copy id': () => void navigator.clipboard.writeText(id) })
  if (!shown) return <Failed failure={page.failure} />
  const moves = (past?.events ?? []).filter(({ kind }) => kind === 'event').toReversed()
  const taken = moves.map(({ from_state, event, to_state }) =>
    transitionId({ from: from_state, event, to: to_state }),
  )
  return (
    <div class="page-inner run">
      <RunHeader page={shown} />
      <div class="run-parts">
        <div class="run-main">
          <MachineDiagram
            machine={shown.machine}
            current={shown.run.current_state}
            taken={taken}
            label={`States of ${shown.run.process_name}; the run is in ${shown.run.current_state}`}
          />
          {past ? <RunHistory history={past} /> : null}
        </div>
        <aside>
          <Ways page={shown} />
          <VerbsBar page={shown} refresh={page.refresh} />
          <Artifacts page={shown} />
          <Facts page={shown} />
        </aside>
      </div>
    </div>
  )
}

/** A frame about another run changes nothing here; tasks, holds and commands may change what guards see. */
function mayChange({ event, data }: Frame, id: string): boolean {
  const named = data?.['run_id']
  if (typeof named === 'string') return named === id
  return !event.startsWith('decision')
}
