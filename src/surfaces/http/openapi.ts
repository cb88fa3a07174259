import { inputSchema, outputSchema } from '../../kernel/operations/input/json-schema.ts'
import type { Operation } from '../../kernel/operations/operation.ts'
import { statusOf } from './refusal.ts'
import type { HttpServingOptions } from './serving.ts'

type Document = Readonly<Record<string, unknown>>

const documents = new WeakMap<HttpServingOptions, Omit<Document, 'servers'>>()

/** The whole interface as OpenAPI 3.1; computed once. */
export function openApiDocument(options: HttpServingOptions): Document {
  const document = documents.get(options) ?? documentOf(options)
  documents.set(options, document)
  return { ...document, servers: serversOf(options) }
}

/** The current projects. */
function serversOf({ projects }: HttpServingOptions) {
  const keys = projects.map(({ key }) => key)
  const [first = 'none yet'] = keys
  return [
    { url: '/', description: `The project ${first}` },
    {
      url: '/p/{project}',
      description: 'Any project of this server',
      variables: { project: { ...(keys.length > 0 && { enum: keys }), default: first } },
    },
  ]
}

function documentOf({ catalog, version }: HttpServingOptions): Omit<Document, 'servers'> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Waymark',
      version,
      description: 'Plan, track and gate the work of coding agents, measured with git.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    security: [{ token: [] }, { session: [], csrf: [] }],
    tags: ['plan', 'track', 'gate', 'server'].map((name) => ({ name })),
    paths: {
      ...Object.fromEntries(catalog.map((operation) => [`/api/${operation.name}`, pathOf(operation)])),
      ...ownPaths,
    },
    components: {
      schemas: { Error: errorSchema, ...namedSchemas(catalog) },
      responses: {
        Refused: {
          description: 'Why the call failed, with the value in question.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'waymark_session_{port}' },
        csrf: { type: 'apiKey', in: 'header', name: 'X-Waymark-Csrf' },
      },
    },
  }
}

function pathOf(operation: Operation): Document {
  const { name, title, description, toolset, kind, audience } = operation
  const forPeople = audience === 'person' ? ' For people only; agents cannot call it.' : ''
  return {
    post: {
      operationId: name,
      summary: title,
      description: `${description}${forPeople}`,
      tags: [toolset],
      ...(kind === 'command' && { parameters: [idempotencyKey] }),
      requestBody: {
        required: (inputSchema(operation).required ?? []).length > 0,
        content: { 'application/json': { schema: publicSchema(inputSchema(operation)) } },
      },
      responses: {
        200: {
          description: 'Done.',
          content: { 'application/json': { schema: publicSchema(outputSchema(operation)) } },
        },
        default: { $ref: '#/components/responses/Refused' },
      },
    },
  }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key and input return the same answer. The same key with another input is refused.',
  schema: { type: 'string', minLength: 1, maxLength: 200 },
}

const errorSchema = {
  type: 'object',
  required: ['success', 'error'],
  properties: {
    success: { const: false },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { enum: Object.keys(statusOf) },
        message: { type: 'string' },
        hint: { type: 'string', description: 'What to do next.' },
        details: { type: 'object' },
      },
    },
  },
}

type OpenApiPath = Readonly<Record<string, unknown>>

const refused = { $ref: '#/components/responses/Refused' }
const list = {
  type: 'array',
  items: { type: 'object', properties: { key: { type: 'string' }, name: { type: 'string' } } },
}

/** The paths beside the operations. */
const ownPaths: Readonly<Record<string, OpenApiPath>> = {
  '/api/projects': {
    get: {
      operationId: 'list_projects',
      summary: 'List the projects of this server',
      tags: ['server'],
      responses: { 200: answer('The projects.', { projects: list }), default: refused },
    },
  },
  '/api/session': {
    get: {
      operationId: 'get_session',
      summary: 'Get the caller',
      tags: ['server'],
      responses: {
        200: answer('The caller, and what a page needs to start.', {
          actor: { type: 'object' },
          csrf: { type: ['string', 'null'] },
          project: { type: 'string' },
          projects: list,
          version: { type: 'string' },
          seq: { type: ['integer', 'null'] },
          program: { type: 'string' },
          clients: { type: 'array', items: { type: 'string' } },
          set_up: { type: 'array', items: { type: 'string' } },
          on_path: { type: 'boolean' },
          demo: { type: ['string', 'null'], enum: ['waiting', 'playing', 'over', null] },
        }),
        default: refused,
      },
    },
  },
}

function answer(description: string, properties: OpenApiPath): OpenApiPath {
  const schema = { type: 'object', required: Object.keys(properties), properties }
  return { description, content: { 'application/json': { schema } } }
}

/** A schema without our own keyword `aliases`. */
function publicSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(publicSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => !['$schema', '$defs'].includes(key) && !(key === 'aliases' && isWords(value)))
      .map(([key, value]) => [key, key === '$ref' ? componentReference(String(value)) : publicSchema(value)]),
  )
}

function componentReference(ref: string): string {
  return ref.replace('#/$defs/', '#/components/schemas/')
}

/** The recursive schemas, such as a task with its subtasks, by name. */
function namedSchemas(catalog: readonly Operation[]): Document {
  const named = catalog.flatMap((operation) => Object.entries(outputSchema(operation).$defs ?? {}))
  return Object.fromEntries(named.map(([name, schema]) => [name, publicSchema(schema)]))
}

/** A field may also be called `aliases`; its value is then a schema. */
function isWords(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((word) => typeof word === 'string')
  )
}
