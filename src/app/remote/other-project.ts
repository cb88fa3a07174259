import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { Answer, Operation } from '../../kernel/operations/operation.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import { baseOf, type ConnectedServer } from '../../remote/machine/known-servers.ts'
import { ServerClient } from '../../remote/machine/server-client.ts'
import type { ServerInvoker } from '../../surfaces/cli/run.ts'

/** The command line for another project on this folder's server: nothing is measured here. */
export function askOtherProject(server: ConnectedServer, actor: Actor): ServerInvoker {
  const client = new ServerClient(server)
  return {
    address: baseOf(server),
    ask: async (operation, input) => {
      if (!isAnsweredAnywhere(operation) || actor.kind === 'agent')
        throw otherProjectRefusal(server, operation)
      return (await client.post(`/api/${operation.name}`, input)) as Answer // as the operation declares
    },
    close: async () => client.close(),
  }
}

/** Whether an operation needs no files: queries, and those about people, tokens and projects. */
function isAnsweredAnywhere({ kind, ofMembers, ofServer }: Operation): boolean {
  return kind === 'query' || ofMembers === true || ofServer === true
}

function otherProjectRefusal({ origin, project }: ConnectedServer, { command }: Operation): Failure {
  return new Failure(
    'REFUSED',
    `This folder is connected to another project of ${origin}. waymark ${command} needs the folder of ${project}.`,
    {
      reason: 'project_elsewhere',
      hint: `Run it in a folder that is connected to ${project}: ${shellCommand`waymark connect ${origin} --project ${project}`}`,
    },
  )
}
