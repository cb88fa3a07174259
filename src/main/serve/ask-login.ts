import { Failure } from '../../domain/failure.ts'
import { isProof, keyIdOf, type Meeting, proofOf } from '../../surfaces/http/guard/login-proof.ts'
import { hashOf, newSecret } from '../../surfaces/http/guard/tokens/token.ts'
import type { RunningServer } from './running-servers.ts'

type Asked = Pick<RunningServer, 'address' | 'port' | 'instance'>

const patience = 2_000

/** Whether what answers at an address is that run of a server, and knows a token. The token is not sent. */
export async function isGenuine(server: Asked, token: string): Promise<boolean> {
  return (await meet(server, hashOf(token)).catch(() => null)) !== null
}

/** Asks a running server for an address that logs in the holder of a person's token, which is shown and not sent. */
export async function freshLogin(server: Asked, token: string): Promise<string> {
  const hash = hashOf(token)
  const meeting = await meet(server, hash)
  const { answered } = meeting
  const said = await post(server, 'login-code', { answered, proof: proofOf('client', meeting, hash) })
  const code = textIn(said, 'code')
  if (code !== null) return `http://${server.address}/login?code=${encodeURIComponent(code)}`
  throw unanswered(server, 'gave no login address')
}

async function meet(server: Asked, hash: string): Promise<Meeting> {
  const asked = newSecret()
  const said = await post(server, 'login-proof', { key: keyIdOf(hash), asked })
  const [answered, proof] = [textIn(said, 'answered'), textIn(said, 'proof')]
  if (answered === null || proof === null) throw unanswered(server, 'does not know this token')
  const meeting = { port: server.port, instance: server.instance, asked, answered }
  if (isProof(proof, proofOf('server', meeting, hash))) return meeting
  throw unanswered(server, 'did not show that it is Waymark of this user, so that nothing was told to it')
}

async function post({ address }: Asked, path: string, body: object): Promise<unknown> {
  const response = await fetch(`http://${address}/api/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(patience),
  })
  return response.json()
}

function textIn(said: unknown, name: string): string | null {
  const value =
    typeof said === 'object' && said !== null ? (said as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' && value.length <= 200 ? value : null
}

function unanswered({ address }: Asked, what: string): Failure {
  return new Failure('UNAVAILABLE', `What answers at ${address} ${what}.`, {
    hint: 'It may keep its tokens elsewhere: is XDG_STATE_HOME the same for both?',
  })
}
