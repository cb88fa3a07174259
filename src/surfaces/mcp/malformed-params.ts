import type { JSONRPCErrorResponse, JSONRPCRequest } from '@modelcontextprotocol/server'
import { deepestNesting } from '../../kernel/json-outline.ts'
import { excerpt } from '../../kernel/text.ts'
import { errorCodes, isMembers, type Members } from './json-rpc.ts'

/** What is nested deeper than anything that goes into it step by step can bear. */
export const tooDeep: JSONRPCErrorResponse['error'] = {
  code: errorCodes.invalidParams,
  message: `Invalid params: the message is nested more than ${deepestNesting} levels deep.`,
}

/** What is wrong with a value, as the end of a sentence that begins with its name; null when nothing is. */
type Check = (value: unknown) => string | null

/** The error of a request whose parameters are malformed. The SDK refuses them too, but with a page of JSON. */
export function mistakenArguments({ method, params }: JSONRPCRequest): JSONRPCErrorResponse['error'] | null {
  const given: Members = params ?? {}
  if (removed.has(method) && isModern(given)) return null // it has no parameters there: it is not there at all
  const checks = { _meta: optional(meta), ...(Object.hasOwn(methods, method) ? methods[method] : {}) }
  for (const [name, check] of Object.entries(checks)) {
    const mistake = check(Object.hasOwn(given, name) ? given[name] : undefined)
    if (mistake === null) continue
    const what = name === 'arguments' ? 'Invalid arguments' : `Invalid params of ${method}`
    return { code: errorCodes.invalidParams, message: `${what}: "${name}" ${mistake}.` }
  }
  return null
}

/** Methods that the revision of 2026-07-28 no longer has. */
const removed: ReadonlySet<string> = new Set(['initialize', 'resources/subscribe', 'resources/unsubscribe'])

function isModern({ _meta }: Members): boolean {
  return isMembers(_meta) && Object.hasOwn(_meta, 'io.modelcontextprotocol/protocolVersion')
}

const text: Check = (value) => (typeof value === 'string' ? null : wanted('a string', value))

const object: Check = (value) => (isMembers(value) ? null : wanted('an object', value))

const namedFields: Check = (value) => (isMembers(value) ? null : wanted('an object of named fields', value))

const textFields: Check = (value) => namedFields(value) ?? inside(value, () => text)

const meta: Check = (value) =>
  object(value) ?? inside(value, (name) => (name === 'progressToken' ? token : nothing))

const token: Check = (value) =>
  typeof value === 'string' || Number.isSafeInteger(value)
    ? null
    : wanted('a string or a whole number', value)

const nothing: Check = () => null

function optional(check: Check): Check {
  return (value) => (value === undefined ? null : check(value))
}

/** An object that has these members. */
function having(members: Readonly<Record<string, Check>>): Check {
  return (value) => {
    const mistake = object(value)
    if (mistake !== null || !isMembers(value)) return mistake
    for (const [name, check] of Object.entries(members)) {
      const found = check(Object.hasOwn(value, name) ? value[name] : undefined)
      if (found !== null) return `has a member "${name}" that ${found}`
    }
    return null
  }
}

const reference: Check = (value) => {
  const type = isMembers(value) ? value['type'] : undefined
  if (type === 'ref/prompt') return having({ name: text })(value)
  if (type === 'ref/resource') return having({ uri: text })(value)
  return `must be { type: "ref/prompt", name } or { type: "ref/resource", uri }, not ${shown(value)}`
}

const page = { cursor: optional(text) }
const resource = { uri: text }

const methods: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  initialize: {
    protocolVersion: text,
    capabilities: object,
    clientInfo: having({ name: text, version: text }),
  },
  'tools/list': page,
  'tools/call': { name: text, arguments: optional(namedFields) },
  'resources/list': page,
  'resources/templates/list': page,
  'resources/read': resource,
  'resources/subscribe': resource,
  'resources/unsubscribe': resource,
  'prompts/list': page,
  'prompts/get': { name: text, arguments: optional(textFields) },
  'completion/complete': { ref: reference, argument: having({ name: text, value: text }) },
}

function inside(value: unknown, checkOf: (name: string) => Check): string | null {
  if (!isMembers(value)) return null
  for (const [name, member] of Object.entries(value)) {
    const mistake = checkOf(name)(member)
    if (mistake !== null) return `has a member "${shown(name).slice(1, -1)}" that ${mistake}`
  }
  return null
}

function wanted(what: string, value: unknown): string {
  return value === undefined ? `is missing: it must be ${what}` : `must be ${what}, not ${shown(value)}`
}

function shown(value: unknown): string {
  const whole = JSON.stringify(value) ?? 'nothing'
  return excerpt(whole, 80)
}
