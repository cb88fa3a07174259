import { readFileSync } from 'node:fs'
import { Failure } from '../../kernel/failure.ts'
import { type OidcSettings, readGroups } from '../../surfaces/http/auth/oidc.ts'
import { type Environment, firstSetVariable } from './environment.ts'
import type { ServeFlags } from './flags.ts'

const secretName = 'WAYMARK_OIDC_CLIENT_SECRET'

/**
 * The OIDC provider from flags or variables; null without one. The client secret comes only from a variable or a file:
 * everybody on the machine can see command lines.
 */
export function oidcSettings(
  { oidcIssuer, oidcClient }: Pick<ServeFlags, 'oidcIssuer' | 'oidcClient'>,
  environment: Environment,
): OidcSettings | null {
  const issuer = oidcIssuer ?? firstSetVariable(environment, ['WAYMARK_OIDC_ISSUER'])
  const clientId = oidcClient ?? firstSetVariable(environment, ['WAYMARK_OIDC_CLIENT'])
  if (issuer === undefined && clientId === undefined) return null
  if (issuer === undefined || clientId === undefined) {
    throw new Failure(
      'INVALID_INPUT',
      `Sign-in with OpenID Connect needs an issuer and a client. The ${issuer === undefined ? 'issuer' : 'client'} is missing.`,
      {
        reason: 'oidc_setting_missing',
        hint: 'waymark serve --oidc-issuer https://… --oidc-client <id>, or WAYMARK_OIDC_ISSUER and WAYMARK_OIDC_CLIENT.',
      },
    )
  }
  assertSecureIssuer(issuer)
  return {
    issuer,
    clientId,
    clientSecret: secretIn(environment),
    groupClaim: firstSetVariable(environment, ['WAYMARK_OIDC_GROUP_CLAIM']) ?? 'groups',
    groups: readGroups(firstSetVariable(environment, ['WAYMARK_OIDC_GROUPS']) ?? ''),
  }
}

function assertSecureIssuer(issuer: string): void {
  const address = URL.parse(issuer)
  if (address?.protocol === 'https:') return
  if (address?.protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(address.hostname)) return
  throw new Failure(
    'INVALID_INPUT',
    `--oidc-issuer must be an https:// address, not "${issuer.slice(0, 200)}".`,
    { reason: 'address_not_encrypted' },
  )
}

function secretIn(environment: Environment): string | null {
  const file = firstSetVariable(environment, [`${secretName}_FILE`])
  if (file === undefined) return firstSetVariable(environment, [secretName]) ?? null
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw new Failure('UNAVAILABLE', `The file ${file} with the client's secret cannot be read.`, {
      reason: 'file_unreadable',
      hint: `${secretName}_FILE names it.`,
    })
  }
}
