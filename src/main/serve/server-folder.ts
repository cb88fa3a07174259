import { homedir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../../domain/failure.ts'
import { canWrite } from '../settings/can-write.ts'
import { type Environment, firstSet } from '../settings/environment.ts'
import { stateFolder } from '../settings/state-folder.ts'

/** Where servers of this user keep tokens and sessions: never in a project, where they could be committed. */
export function serverFolder(environment: Environment): string {
  const home = firstSet(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const folder = join(stateFolder({ platform: process.platform, environment, home }), 'server')
  if (canWrite(folder)) return folder
  throw new Failure('UNAVAILABLE', `The tokens of the server cannot be kept: ${folder} cannot be written.`, {
    hint: 'Make it writable, or set XDG_STATE_HOME to a folder that is.',
  })
}
