type Path = Readonly<Record<string, unknown>>

const refused = { $ref: '#/components/responses/Refused' }
const list = {
  type: 'array',
  items: { type: 'object', properties: { key: { type: 'string' }, name: { type: 'string' } } },
}

/** The paths beside the operations. */
export const ownPaths: Readonly<Record<string, Path>> = {
  '/api/journal': {
    get: {
      operationId: 'read_journal',
      summary: 'The journal after a position',
      description:
        'Facts as an export writes them, oldest first. Ask again with since=next until next is head.',
      tags: ['server'],
      parameters: [
        { name: 'since', in: 'query', schema: { type: 'integer', minimum: 0, default: 0 } },
        { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 } },
      ],
      responses: {
        200: answer('The facts, the position of the last of them, and the end of the journal.', {
          facts: { type: 'array', items: { type: 'object' } },
          next: { type: 'integer' },
          head: { type: 'integer' },
        }),
        default: refused,
      },
    },
  },
  '/api/projects': {
    get: {
      operationId: 'list_projects',
      summary: 'The projects of this server',
      tags: ['server'],
      responses: { 200: answer('The projects.', { projects: list }), default: refused },
    },
  },
  '/api/session': {
    get: {
      operationId: 'get_session',
      summary: 'Who is asking',
      tags: ['server'],
      responses: {
        200: answer('The caller, and what a page needs to begin.', {
          actor: { type: 'object' },
          csrf: { type: ['string', 'null'] },
          project: { type: 'string' },
          projects: list,
          version: { type: 'string' },
          program: { type: 'string' },
          clients: { type: 'array', items: { type: 'string' } },
        }),
        default: refused,
      },
    },
  },
}

function answer(description: string, properties: Path): Path {
  const schema = { type: 'object', required: Object.keys(properties), properties }
  return { description, content: { 'application/json': { schema } } }
}
