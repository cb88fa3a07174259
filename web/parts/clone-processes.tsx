import { projectStatus } from '../shell/project-status.ts'
import { programCommand } from './terminal-command.tsx'

/** Where the processes of the project are if its server has no files of it. */
export function CloneProcesses() {
  if (projectStatus.value?.witness !== null) return null
  const command = programCommand()
  return (
    <p class="muted">
      This server has no files of the project, so the processes in <code>.waymark/processes/</code> are not
      listed here. In your clone, <code>{command} process list</code> lists them too;{' '}
      <code>{command} mission start</code> and <code>{command} run create</code> take one with{' '}
      <code>--process-id</code>.
    </p>
  )
}
