import type { ViewProps } from '../../router/routes.ts'
import { Definition } from './definition.tsx'
import { ProcessList } from './process-list.tsx'
import '../run/run.css'
import './processes.css'

/** All processes with the runs that are active, or one of them with its source. */
export function View({ params }: ViewProps) {
  const name = params['name']
  return name === undefined || name === '' ? <ProcessList /> : <Definition key={name} name={name} />
}
