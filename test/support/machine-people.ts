import { openMachinePeople } from '../../src/app/settings/machine-people.ts'
import type { TokenId } from '../../src/kernel/id.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import { readToken } from '../../src/people/domain/identity.ts'
import { keepOwnTokens } from '../../src/people/operations/owner.ts'
import { tokenCreate, tokenRevoke } from '../../src/people/operations/tokens.ts'
import type { MachineOwner, Team } from '../../src/people/ports/team.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import { type Answer, person } from './project.ts'

export interface MachinePeople {
  readonly team: Team & { readonly owner: MachineOwner }
  /** The two that a server makes for its own user, Tess. */
  readonly own: { readonly agent: string; readonly person: string }
  /** Makes a token as Tess does at the command line, and answers its text. */
  readonly addToken: (input: { readonly name: string } & Readonly<Record<string, unknown>>) => Promise<string>
  readonly revokeToken: (token: string) => Promise<unknown>
}

/** The user of a machine, as `waymark serve` knows them there; `context` is that of a project. */
export async function machinePeople(
  environment: Readonly<Record<string, string | undefined>>,
  context: () => Context,
): Promise<MachinePeople> {
  const people = openMachinePeople(environment, '/')
  const team = { ...people, owner: { ...people.owner, name: () => 'Tess' } }
  const here = () => ({ ...context(), team, actor: person })
  return {
    team,
    own: await keepOwnTokens(team, team.owner, { at: Date.now(), ids: randomIds }),
    addToken: async (input) => {
      const made: Answer = await invoke(tokenCreate, here(), input)
      return made.secret
    },
    revokeToken: (token) => invoke(tokenRevoke, here(), { token }),
  }
}

/** The id by which a token is found. */
export function tokenIdOf(text: string): TokenId {
  const parts = readToken(text)
  if (!parts) throw new Error('this is no token')
  return parts.id
}
