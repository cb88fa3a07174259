import { deepestNesting, outlineOf } from '../../../domain/json-outline.ts'
import { Refusal } from '../refusal/refusal.ts'
import { jsonMistake } from './json-mistake.ts'
import { readBody } from './read-body.ts'

/** What a request's body says. An empty one says nothing: undefined. */
export async function readJson(request: Request, largest: number): Promise<unknown> {
  const text = await readBody(request, largest)
  if (text.trim() === '') return undefined
  refuseOtherTypes(request.headers.get('content-type'))
  refuseDepths(text)
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('INVALID_INPUT', `The body is not JSON: ${jsonMistake(text)}.`, {
      hint: 'Send one JSON object of named fields.',
    })
  }
}

function refuseDepths(text: string): void {
  if (!outlineOf(text).tooDeep) return
  throw new Refusal('INVALID_INPUT', `The body is nested more than ${deepestNesting} levels deep.`)
}

function refuseOtherTypes(given: string | null): void {
  const type = (given ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json') return
  const what = given === null ? 'none' : `"${given.slice(0, 100)}"`
  throw new Refusal('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be application/json, and is ${what}.`)
}
