import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { onTestFinished } from 'vitest'

export interface Account {
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
  readonly groups?: readonly string[]
}

export const clientSecret = 'a secret of the client that is long enough'

/** A provider of OpenID Connect in this process, whose accounts are these. */
export async function openProvider(accounts: Readonly<Record<string, Account>>) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const redirects: string[] = []
  const provider = new Provider(issuer, {
    clients: [
      { client_id: 'waymark', client_secret: clientSecret, redirect_uris: ['http://127.0.0.1/none'] },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['one', 'two'] },
    ttl: { Interaction: 60, Session: 60, Grant: 60, AccessToken: 60, AuthorizationCode: 60, IdToken: 60 },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...accounts[sub] }),
    }),
  })
  // The port of the server under test is known later.
  const { Client } = provider
  Client.prototype.redirectUriAllowed = (uri: string) => redirects.includes(uri)
  server.on('request', provider.callback())
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { issuer, allow: (uri: string) => void redirects.push(uri) }
}
