import { z } from 'zod'
import type { Actor } from '../../../kernel/actor.ts'
import type { TokenId } from '../../../kernel/id.ts'
import { readJson } from '../body.ts'
import type { RequestContext } from '../parts.ts'
import { Refusal } from '../refusal.ts'
import type { HttpServingOptions } from '../serving.ts'
import { recordMistake, requireAuth } from './authenticate.ts'
import { keyIdOf, proofOf } from './login-proof.ts'
import { requestInfoOf } from './request-info.ts'
import type { Security } from './security.ts'
import { beginSession, refusalPage } from './sign-in.ts'

/** `GET /login?code=…`: starts a dashboard session; each code works once. */
export async function logIn(
  c: RequestContext,
  security: Security,
  { demo, page }: Pick<HttpServingOptions, 'demo'> & { readonly page: () => string | null },
): Promise<Response> {
  // A HEAD request, as link previews send it, must not use the code.
  if (c.req.method !== 'GET') {
    throw new Refusal('METHOD_NOT_ALLOWED', `/login is opened with GET, not with ${c.req.method}.`, {
      reason: 'method_not_allowed',
      headers: { Allow: 'GET' },
    })
  }
  const { codes, directory, now } = security
  const command = await security.insideCommand(c.env.incoming.socket, 'dashboard')
  if (command) throw personOnlyRefusal(command)
  const code = c.req.query('code')
  if (code === undefined) return c.redirect('/', 303) // the page shows how to sign in
  const token = codes.take(code, now())
  const principal = token && (await directory.byTokenId(token))
  if (!principal) return notLoggedIn(c, security, page())
  const { secure } = requestInfoOf(c.env.incoming, security)
  const cookie = await beginSession(directory, principal, { secure, at: now() })
  // A demo starts with its introduction.
  const first = demo ? '/start' : '/'
  return c.body(null, 303, { 'Set-Cookie': cookie.header, Location: first, 'Cache-Control': 'no-store' })
}

/** A browser gets the dashboard's page with the next step; a program gets the usual refusal. */
function notLoggedIn(c: RequestContext, security: Security, page: string | null): Response {
  const message = 'This sign-in address was already used, is older than ten minutes, or never existed.'
  const refusal = recordMistake(requestInfoOf(c.env.incoming, security), security, {
    reason: 'login_code_invalid',
    message,
  })
  const hint = 'Run waymark open in a terminal: it signs a browser in.'
  return refusalPage(c, refusal, { page, to: '/', hint, more: { 'Cache-Control': 'no-store' } })
}

const question = z.object({ key: z.string().max(64), asked: z.string().min(16).max(128) })
const answer = z.object({ answered: z.string().max(128), proof: z.string().max(128) })
const largestQuestion = { maxBytes: 1_000, maxValues: 100 }

/** `POST /api/login-proof`: proves to a program of this user that this is their server; then the program does the same. */
export async function proveLogin(
  c: RequestContext,
  security: Security,
  { instance }: Pick<HttpServingOptions, 'instance'>,
): Promise<Response> {
  const { proofs, hosts, now } = security
  const { key, asked: challenge } = read(question, await readJson(c.req.raw, largestQuestion))
  if (key !== keyIdOf(instance))
    throw recordMistake(requestInfoOf(c.env.incoming, security), security, {
      reason: 'server_run_unknown',
      message: 'This server was restarted since.',
    })
  const meeting = proofs.begin({ port: hosts().port, asked: challenge }, now())
  return c.json({ answered: meeting.answered, proof: proofOf('server', meeting, instance) }, 200, {
    'Cache-Control': 'no-store',
  })
}

/** `POST /api/login-code`: a new code for a person's token, or for a proof of this machine's user. */
export async function makeLoginCode(
  c: RequestContext,
  security: Security,
  { instance }: Pick<HttpServingOptions, 'instance'>,
): Promise<Response> {
  const command = await security.insideCommand(c.env.incoming.socket, 'http')
  if (command) throw personOnlyRefusal(command)
  const token = c.var.caller ? tokenOfCaller(c) : await tokenOfOwner(c, security, instance)
  return c.json({ code: security.codes.make(token, security.now()) }, 200, { 'Cache-Control': 'no-store' })
}

function personOnlyRefusal({ name }: Pick<Actor, 'name'>): Refusal {
  return new Refusal('FORBIDDEN', `The dashboard is for people. ${name} is an agent.`, {
    reason: 'person_needed',
  })
}

function tokenOfCaller(c: RequestContext): TokenId {
  const { actor, principal } = requireAuth(c.var.caller)
  if (actor.kind !== 'person') throw personOnlyRefusal(actor)
  if (principal.token) return principal.token.id
  throw new Refusal('REFUSED', 'A sign-in address needs a token, and you signed in without one.', {
    reason: 'token_missing',
    hint: 'Create a token of kind person: waymark token create --kind person',
  })
}

async function tokenOfOwner(c: RequestContext, security: Security, instance: string): Promise<TokenId> {
  const body = await readJson(c.req.raw, largestQuestion)
  if (body === undefined) requireAuth(c.var.caller)
  const isShown = security.proofs.take(read(answer, body), instance, security.now())
  if (!isShown)
    throw recordMistake(requestInfoOf(c.env.incoming, security), security, {
      reason: 'login_proof_invalid',
      message: 'The proof is wrong, expired or already used.',
    })
  const owner = await security.directory.owner()
  if (owner?.token) return owner.token.id
  throw new Refusal('REFUSED', 'This server creates sign-in addresses only for holders of tokens.', {
    reason: 'token_missing',
    hint: 'GET /api/sign-in lists the ways to sign in.',
  })
}

function read<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value)
  if (parsed.success) return parsed.data
  const names = shape instanceof z.ZodObject ? Object.keys(shape.shape).join(' and ') : 'other fields'
  throw new Refusal('INVALID_INPUT', `The body must be an object with ${names}, each a short text.`, {
    reason: 'body_fields_invalid',
  })
}
