import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { closeContext, openContext } from '../../src/app/open-context.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { type InvokeOptions, invoke } from '../../src/kernel/operations/invoke.ts'
import type { Context } from '../../src/kernel/operations/operation.ts'
import type { CallerPermissions } from '../../src/people/domain/access.ts'
import { readToken } from '../../src/people/domain/identity.ts'
import { actorOfPrincipal, permissionsIn, readPrincipal } from '../../src/surfaces/http/auth/principal.ts'
import { commitCopied } from '../support/copied-folder.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { plantDatabase } from '../support/planted-database.ts'
import {
  type Answer,
  assertDeclared,
  everyProjectOnServer,
  person,
  type RefusalData,
  refusedBy,
} from '../support/project.ts'
import { whenFinished } from '../support/shared.ts'
import { serverEnvironment } from '../support/stdio-project.ts'

export interface TeamProject {
  readonly context: Context
  /** As whoever can write the database, unless a standing is given. */
  readonly call: (
    name: string,
    input?: object,
    as?: { readonly actor?: Actor; readonly permissions?: CallerPermissions } & InvokeOptions,
  ) => Promise<Answer>
  /** With a token, as a server lets its holder in. */
  readonly as: (token: string) => Promise<{ readonly actor: Actor; readonly permissions: CallerPermissions }>
  readonly write: (path: string, content: string) => void
  /** How a call is refused, as data. */
  readonly refused: (
    name: string,
    input?: object,
    as?: { readonly actor?: Actor; readonly permissions?: CallerPermissions },
  ) => Promise<RefusalData>
}

const databases = new Map<string, Promise<string>>()

/** The database of a home for all projects of a server, on the engine that `WAYMARK_TEST_ENGINE` names. */
export function teamDatabase(home: string): Promise<string> {
  const database =
    databases.get(home) ?? everyProjectOnServer(true).then((url) => url ?? plantedFile(join(home, 'team.db')))
  databases.set(home, database)
  return database
}

async function plantedFile(file: string): Promise<string> {
  await plantDatabase(file)
  return file
}

/** A project in a database that is named for all projects of a server. */
export async function openTeamProject(home = temporaryFolder(), name = 'shop'): Promise<TeamProject> {
  const folder = join(home, name)
  commitCopied(folder, { 'README.md': '# Shop\n' })
  const environment = { ...serverEnvironment(home), WAYMARK_DATABASE: await teamDatabase(home) }
  const context = openContext({ actor: person, environment, workingFolder: folder, project: folder })
  whenFinished(() => closeContext(context))
  const call: TeamProject['call'] = async (called, input = {}, { actor, permissions, ...options } = {}) => {
    const operation = catalog.find((candidate) => candidate.name === called)
    if (!operation) throw new Error(`no operation ${called}`)
    const by = { ...context, ...(actor && { actor }), ...(permissions && { permissions }) }
    const answer = await invoke(operation, by, input, options)
    assertDeclared(operation, answer)
    return answer
  }
  return {
    context,
    call,
    write: (path, content) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    },
    as: async (token) => {
      const id = readToken(token)?.id
      const principal = id && (await context.team?.store.view((reads) => readPrincipal(reads, { token: id })))
      if (!principal) throw new Error('no such token')
      const here = await context.store.view(({ identities }) => Promise.resolve(identities.project))
      return { actor: actorOfPrincipal(principal), permissions: permissionsIn(principal, here) }
    },
    refused: (called, input, as) => refusedBy(call(called, input, as)),
  }
}

/** What somebody may do who has this access and nothing else. */
export function standingOf(
  access: CallerPermissions['access'],
  more: Partial<CallerPermissions> = {},
): CallerPermissions {
  return {
    personId: 'u-000000000000',
    personName: 'Vera',
    tokenId: null,
    sessionId: null,
    access,
    admin: false,
    roles: [],
    expiresAt: Number.MAX_SAFE_INTEGER,
    ...more,
  }
}
