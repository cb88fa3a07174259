import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type Answer, person } from '../support/project.ts'
import { type HttpOptions, type HttpProject, openHttpProject } from '../surfaces/http/http-project.ts'
import { teamDatabase } from './team-project.ts'

export interface TeamServer extends HttpProject {
  /** As whoever can write the database. */
  readonly call: (name: string, input?: object, at?: number) => Promise<Answer>
  /** With a token, over HTTP. */
  readonly ask: (
    token: string,
    path: string,
    body?: object,
    more?: Record<string, string>,
  ) => Promise<Response>
}

/** A server whose persons are in the database that was named. */
export async function openTeam(options: HttpOptions = {}): Promise<TeamServer> {
  const home = options.home ?? temporaryFolder()
  const project = await openHttpProject({ home, database: await teamDatabase(home), ...options })
  return {
    ...project,
    call: (name, input = {}, at = 0) => {
      const operation = catalog.find((candidate) => candidate.name === name)
      const context = project.contexts[at]
      if (!operation || !context) throw new Error(`no ${name}`)
      return invoke(operation, { ...context, actor: person }, input)
    },
    ask: (token, path, body, more = {}) =>
      fetch(`${project.address}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: {
          Authorization: `Bearer ${token}`,
          ...(body && { 'Content-Type': 'application/json' }),
          ...more,
        },
        ...(body && { body: JSON.stringify(body) }),
      }),
  }
}
