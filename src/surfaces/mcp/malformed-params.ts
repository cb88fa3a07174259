import type { JSONRPCErrorResponse, JSONRPCRequest } from '@modelcontextprotocol/server'
import { isJsonObject } from '../../kernel/json.ts'
import { deepestNesting } from '../../kernel/json-outline.ts'
import { excerpt } from '../../kernel/text.ts'
import { errorCodes, type JsonRpcMembers } from './json-rpc.ts'

/** Deeper values would overflow the stack of recursive readers. */
export const tooDeep: JSONRPCErrorResponse['error'] = {
  code: errorCodes.invalidParams,
  message: `Invalid params: the message is nested more than ${deepestNesting} levels deep.`,
}

/** The error of a value, as the rest of a sentence after its name; null if it is valid. */
type ParamCheck = (value: unknown) => string | null

/** The error for malformed parameters. The SDK also refuses them, but with a page of JSON. */
export function mistakenArguments({ method, params }: JSONRPCRequest): JSONRPCErrorResponse['error'] | null {
  const given: JsonRpcMembers = params ?? {}
  if (removed.has(method) && isModern(given)) return null // this revision has no such method
  const checks = { _meta: optionalCheck(meta), ...(Object.hasOwn(methods, method) ? methods[method] : {}) }
  for (const [name, check] of Object.entries(checks)) {
    const mistake = check(Object.hasOwn(given, name) ? given[name] : undefined)
    if (mistake === null) continue
    const what = name === 'arguments' ? 'Invalid arguments' : `Invalid params of ${method}`
    return { code: errorCodes.invalidParams, message: `${what}: "${name}" ${mistake}.` }
  }
  return null
}

/** Methods that were removed in the revision of 2026-07-28. */
const removed: ReadonlySet<string> = new Set(['initialize', 'resources/subscribe', 'resources/unsubscribe'])

function isModern({ _meta }: JsonRpcMembers): boolean {
  return isJsonObject(_meta) && Object.hasOwn(_meta, 'io.modelcontextprotocol/protocolVersion')
}

const text: ParamCheck = (value) => (typeof value === 'string' ? null : expectedText('a string', value))

const object: ParamCheck = (value) => (isJsonObject(value) ? null : expectedText('an object', value))

const namedFields: ParamCheck = (value) =>
  isJsonObject(value) ? null : expectedText('an object of named fields', value)

const textFields: ParamCheck = (value) => namedFields(value) ?? checkMembers(value, () => text)

const meta: ParamCheck = (value) =>
  object(value) ?? checkMembers(value, (name) => (name === 'progressToken' ? token : checkNothing))

const token: ParamCheck = (value) =>
  typeof value === 'string' || Number.isSafeInteger(value)
    ? null
    : expectedText('a string or a whole number', value)

const checkNothing: ParamCheck = () => null

function optionalCheck(check: ParamCheck): ParamCheck {
  return (value) => (value === undefined ? null : check(value))
}

/** An object that has these members. */
function objectCheck(members: Readonly<Record<string, ParamCheck>>): ParamCheck {
  return (value) => {
    const mistake = object(value)
    if (mistake !== null || !isJsonObject(value)) return mistake
    for (const [name, check] of Object.entries(members)) {
      const found = check(Object.hasOwn(value, name) ? value[name] : undefined)
      if (found !== null) return `has a member "${name}" that ${found}`
    }
    return null
  }
}

const reference: ParamCheck = (value) => {
  const type = isJsonObject(value) ? value['type'] : undefined
  if (type === 'ref/prompt') return objectCheck({ name: text })(value)
  if (type === 'ref/resource') return objectCheck({ uri: text })(value)
  return `must be { type: "ref/prompt", name } or { type: "ref/resource", uri }, not ${shortJson(value)}`
}

const page = { cursor: optionalCheck(text) }
const resource = { uri: text }

const methods: Readonly<Record<string, Readonly<Record<string, ParamCheck>>>> = {
  initialize: {
    protocolVersion: text,
    capabilities: object,
    clientInfo: objectCheck({ name: text, version: text }),
  },
  'tools/list': page,
  'tools/call': { name: text, arguments: optionalCheck(namedFields) },
  'resources/list': page,
  'resources/templates/list': page,
  'resources/read': resource,
  'resources/subscribe': resource,
  'resources/unsubscribe': resource,
  'prompts/list': page,
  'prompts/get': { name: text, arguments: optionalCheck(textFields) },
  'completion/complete': { ref: reference, argument: objectCheck({ name: text, value: text }) },
}

function checkMembers(value: unknown, checkOf: (name: string) => ParamCheck): string | null {
  if (!isJsonObject(value)) return null
  for (const [name, member] of Object.entries(value)) {
    const mistake = checkOf(name)(member)
    if (mistake !== null) return `has a member "${shortJson(name).slice(1, -1)}" that ${mistake}`
  }
  return null
}

function expectedText(what: string, value: unknown): string {
  return value === undefined ? `is missing: it must be ${what}` : `must be ${what}, not ${shortJson(value)}`
}

function shortJson(value: unknown): string {
  const whole = JSON.stringify(value) ?? 'nothing'
  return excerpt(whole, 80)
}
