import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { type Serving, serveHome } from './serve-process.ts'

const maxBody = 1_000_000
const many = (of: (at: number) => string, amount: number) => Array.from({ length: amount }, (_, at) => of(at))

/** Texts that a reader of patterns, of YAML or of JSON may take long for. */
const bombs: Readonly<Record<string, string>> = {
  'regular expression': `^(${'(a+)+'.repeat(60)})*$`,
  glob: `${'{a,b}'.repeat(40)}${'**/*a'.repeat(40)}+(a|+(a|aa))b`,
  'YAML aliases': `a: &a [x]\n${many((at) => `b${at}: &b${at} [*${at === 0 ? 'a' : `b${at - 1}`}, *a, *a]`, 400).join('\n')}`,
  'long line': 'a '.repeat(500_000),
  'open brackets': '[({<'.repeat(250_000),
  NUL: 'a\0b'.repeat(300_000),
  'lone surrogates': '\ud800\udc00\ud800'.repeat(300_000),
  'combining signs': 'a\u0301\u202e'.repeat(300_000),
  'line breaks': '\n\r\u2028'.repeat(300_000),
  digits: '9'.repeat(900_000),
  slashes: '../'.repeat(300_000),
  'escape sequences': '\u001b[2J\\"'.repeat(150_000),
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maximum?: number
}

/** As much of one text as an input takes: what the schema lets through reaches what is behind it. */
function filled(schema: Schema, text: string, budget: { left: number }): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf?.[0]) return filled(schema.anyOf[0], text, budget)
  if (schema.type === 'string') {
    const length = Math.min(schema.maxLength ?? text.length, Math.max(20, Math.floor(budget.left / 6)))
    budget.left -= length * 3
    return text.slice(0, length)
  }
  if (schema.type === 'integer' || schema.type === 'number') return Math.min(schema.maximum ?? 1e15, 1e15)
  if (schema.type === 'boolean') return true
  if (schema.type === 'array') {
    const items: unknown[] = []
    while (items.length < Math.min(schema.maxItems ?? 200, 200) && budget.left > 100) {
      items.push(filled(schema.items ?? {}, `${items.length}${text}`, budget))
      budget.left -= 20
    }
    return items
  }
  if (schema.type === 'object') {
    const entries = Object.entries(schema.properties ?? {})
    return Object.fromEntries(entries.map(([key, one]) => [key, filled(one, text, budget)]))
  }
  return text.slice(0, 100)
}

interface Hostile {
  readonly title: string
  readonly path: string
  readonly body: string | Buffer<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

/** Bodies that are wrong as a whole, whatever they are sent to. */
const wholes: readonly (readonly [string, (fields: readonly string[]) => string | Buffer<ArrayBuffer>])[] = [
  ['arrays nested 10^5 deep', ([field = 'a']) => `{"${field}":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['objects nested 10^5 deep', () => `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['10^5 keys', () => `{${many((at) => `"k${at}":1`, 70_000).join()}}`],
  ['one key 10^5 times', ([field = 'a']) => `{${many(() => `"${field}":"x"`, 60_000).join()}}`],
  ['each field a list of 10^5 numbers', ([field = 'a']) => `{"${field}":[${'1.5,'.repeat(200_000)}1]}`],
  ['each field a huge number', (fields) => `{${fields.map((field) => `"${field}":1e999`).join()}}`],
  ['a number of 10^5 digits', ([field = 'a']) => `{"${field}":${'9'.repeat(900_000)}}`],
  ['a list instead of fields', () => `[${'{},'.repeat(300_000)}{}]`],
  ['JSON in a text in a text', ([field = 'a']) => JSON.stringify({ [field]: `[${'['.repeat(400_000)}` })],
  ['text that is no UTF-8', () => Buffer.alloc(900_000, 0xff)],
  ['JSON without an end', () => `{"a":"${'\\"'.repeat(400_000)}`],
  ['signs that go wrong at the end', () => `[${'1,'.repeat(490_000)}x`],
]

function ofOperation(at: number): readonly Hostile[] {
  const operation = catalog[at]
  if (!operation) throw new Error(`no operation ${at}`)
  const path = `/api/${operation.name}`
  const fields = Object.keys(operation.input.shape)
  const names = Object.keys(bombs)
  const schema = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }) as Schema
  const [whole, make] = wholes[at % wholes.length] ?? ['', () => '']
  const bomb = names[at % names.length] ?? ''
  const text = bombs[bomb] ?? ''
  const body = JSON.stringify(filled(schema, text, { left: maxBody / 2 }))
  return [
    { title: `${operation.name}: ${whole}`, path, body: make(fields) },
    { title: `${operation.name}: fields full of ${bomb}`, path, body: body.length < maxBody ? body : '{}' },
  ]
}

const bomb = Buffer.from(gzipSync(Buffer.alloc(30_000_000, '[')))
const gzipped = { 'Content-Encoding': 'gzip' }
const message = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const mcp = { Accept: 'application/json, text/event-stream' }

const others: readonly Hostile[] = [
  ...['/api/start_task', '/api/machines/call', '/mcp', '/api/login-proof', '/api/sign-in'].flatMap((path) => [
    { title: `${path}: a gzip bomb`, path, body: bomb, headers: gzipped },
    { title: `${path}: brackets`, path, body: '['.repeat(900_000), headers: mcp },
  ]),
  {
    title: 'a batch of MCP',
    path: '/mcp',
    body: JSON.stringify(many(String, 20_000).map((id) => ({ ...message('ping', {}), id }))),
    headers: mcp,
  },
  {
    title: 'a call of MCP with a long text',
    path: '/mcp',
    body: JSON.stringify(
      message('tools/call', { name: 'start_task', arguments: { name: 'x'.repeat(900_000) } }),
    ),
    headers: mcp,
  },
  {
    title: 'a remote call with much of everything',
    path: '/api/machines/call',
    body: JSON.stringify({ operation: 'status', input: { a: Array(200_000).fill(1) } }),
  },
  {
    title: 'a cookie of signs',
    path: '/api/status',
    body: '{}',
    headers: { Cookie: `a=${';='.repeat(6_000)}` },
  },
  { title: 'a query of signs', path: `/api/status?${'a=%41&'.repeat(2_000)}`, body: '{}' },
  {
    title: 'a long idempotency key',
    path: '/api/start_mission',
    body: '{"name":"a","objective":"b"}',
    headers: { 'Idempotency-Key': 'k'.repeat(12_000) },
  },
]

/** Paths that no file system has. */
const paths = catalog.flatMap(({ name, input }) =>
  Object.keys(input.shape)
    .filter((field) => /file|path|folder|place|areas|artifact/.test(field))
    .flatMap((field) =>
      Object.entries({ long: 'a'.repeat(300), deep: 'a/'.repeat(2_100), NUL: 'a\0b' }).map(
        ([kind, path]): Hostile => {
          const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema
          const fields = filled(schema, 'x', { left: 1_000 }) as object
          const body = JSON.stringify({ ...fields, [field]: path })
          return { title: `${name}: a ${kind} path as ${field}`, path: `/api/${name}`, body }
        },
      ),
    ),
)

const hostile: readonly Hostile[] = [...catalog.flatMap((_, at) => ofOperation(at)), ...paths, ...others]

interface Figures {
  readonly cpu: number
  readonly lag: number
  readonly memory: number
}

/** What the server says of itself; the longest delay of its event loop is that since the question before. */
async function figuresOf({ port }: Serving, token: string): Promise<Figures> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { Authorization: `Bearer ${token}` },
  })
  const text = await answer.text()
  const figure = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1] ?? Number.NaN)
  return {
    cpu: figure('process_cpu_seconds_total'),
    lag: figure('nodejs_eventloop_lag_max_seconds'),
    memory: figure('process_resident_memory_bytes'),
  }
}

const maxHeldSeconds = 0.2
const maxGrowth = 400_000_000

test('small hostile bodies of every kind hold nobody up', { timeout: 600_000 }, async () => {
  const home = serveHome()
  const server = await home.serve(home.repository('shop'), '--log-level', 'error')
  const token = home.token('person')
  const first = await figuresOf(server, token)
  let before = first
  const wrong: string[] = []
  async function sent({ path, body, headers }: Hostile): Promise<{ status: number | string; held: number }> {
    const { status } = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
      body,
    }).catch((error: unknown) => ({ status: String(error) }))
    const after = await figuresOf(server, token)
    // A busy machine delays the loop without using the processor; threads use it without delaying the loop.
    const held = Math.min(after.cpu - before.cpu, after.lag)
    before = after
    return { status, held }
  }
  for (const body of hostile) {
    const { status, held } = await sent(body)
    if (typeof status === 'string' || status >= 500) wrong.push(`${body.title}: ${status}`)
    if (held <= maxHeldSeconds) continue
    // A body that holds everyone does so each time; a collection of memory does not.
    const again = await sent(body)
    if (!(again.held <= maxHeldSeconds))
      wrong.push(`${body.title}: held everyone for ${held.toFixed(2)} s, then ${again.held.toFixed(2)} s`)
  }
  expect(wrong).toEqual([])
  expect(before.memory - first.memory).toBeLessThan(maxGrowth)
})
