import { inputSchema, outputSchema } from '../../../../operations/input/json-schema.ts'
import type { Operation } from '../../../../operations/operation.ts'
import { statusOf } from '../../refusal/status.ts'
import type { Serving } from '../../serving.ts'
import { ownPaths } from './own-paths.ts'
import { published } from './published.ts'

type Document = Readonly<Record<string, unknown>>

const documents = new WeakMap<Serving, Document>()

/** The whole interface as OpenAPI 3.1; computed once. */
export function openApiDocument(serving: Serving): Document {
  const known = documents.get(serving)
  if (known) return known
  const made = documentOf(serving)
  documents.set(serving, made)
  return made
}

function documentOf({ catalog, version, projects: [first, ...others] }: Serving): Document {
  const keys = [first, ...others].map(({ key }) => key)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Waymark',
      version,
      description: 'Plans, tracks and gates the work of coding agents, with git as the witness.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: '/', description: `The project ${first.key}` },
      {
        url: '/p/{project}',
        description: 'Any project of this server',
        variables: { project: { enum: keys, default: first.key } },
      },
    ],
    security: [{ token: [] }, { session: [], csrf: [] }],
    tags: ['plan', 'track', 'gate', 'server'].map((name) => ({ name })),
    paths: {
      ...Object.fromEntries(catalog.map((operation) => [`/api/${operation.name}`, pathOf(operation)])),
      ...ownPaths,
    },
    components: {
      schemas: { Error: errorSchema },
      responses: {
        Refused: {
          description: 'Why it cannot be done, with the value in it and the way on.',
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
  const forPeople = audience === 'person' ? ' Only people may do this, not agents.' : ''
  return {
    post: {
      operationId: name,
      summary: title,
      description: `${description}${forPeople}`,
      tags: [toolset],
      ...(kind === 'command' && { parameters: [idempotencyKey] }),
      requestBody: {
        required: (inputSchema(operation).required ?? []).length > 0,
        content: { 'application/json': { schema: published(inputSchema(operation)) } },
      },
      responses: {
        200: {
          description: 'Done.',
          content: { 'application/json': { schema: published(outputSchema(operation)) } },
        },
        default: { $ref: '#/components/responses/Refused' },
      },
    },
  }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key and input are answered the same; the same key with another input is refused.',
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
        hint: { type: 'string', description: 'The way on.' },
        details: { type: 'object' },
      },
    },
  },
}
