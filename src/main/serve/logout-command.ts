import { join } from 'node:path'
import { Failure } from '../../domain/failure.ts'
import { logoutUsage } from '../../surfaces/cli/help/other-commands.ts'
import { print } from '../../surfaces/cli/process-terminal.ts'
import { Sessions } from '../../surfaces/http/guard/sessions.ts'
import { TokenFile } from '../../surfaces/http/guard/tokens/token-file.ts'
import { commandLineActor } from '../settings/actor.ts'
import { userName } from '../settings/user-name.ts'
import { reported } from './reported.ts'
import { serverFolder } from './server-folder.ts'

/** `waymark logout`: ends logins of the dashboard, at every server of this user and in every browser. */
export function logoutCommand(words: readonly string[]): Promise<void> {
  return reported(() => {
    const [name, more] = words
    const odd = more ?? (name?.startsWith('-') ? name : undefined)
    if (odd !== undefined) {
      throw new Failure('INVALID_INPUT', `logout does not take ${odd}.`, { hint: `Usage: ${logoutUsage}` })
    }
    refuseAgent()
    const folder = serverFolder(process.env)
    const token = name === undefined ? null : tokenNamed(name, folder)
    const sessions = new Sessions(join(folder, 'sessions.json'))
    const ended = sessions.end((session) => token === null || session.token === token)
    const whose = name === undefined ? '' : ` of ${name}`
    const what = ended === 1 ? '1 login' : `${ended} logins`
    print(
      `${ended === 0 ? `No browser was logged in${whose && ` with the token${whose}`}.` : `Ended ${what}${whose}. waymark serve prints a fresh address.`}\n`,
    )
  })
}

function refuseAgent(): void {
  const { kind, name } = commandLineActor(process.env, userName())
  if (kind === 'person') return
  throw new Failure('FORBIDDEN', `People log out themselves; ${name} acts as an agent.`, {
    hint: 'Ask a person to run: waymark logout',
  })
}

function tokenNamed(name: string, folder: string): string {
  const entries = new TokenFile(folder).entries()
  const found = entries.find((entry) => entry.name === name)
  if (found) return found.hash
  const names = entries.map((entry) => entry.name).join(', ') || 'none'
  throw new Failure('NOT_FOUND', `There is no token "${name}".`, { hint: `There are: ${names}.` })
}
