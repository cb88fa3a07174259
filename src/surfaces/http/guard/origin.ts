import { Refusal } from '../refusal/refusal.ts'
import type { Knock } from './knock.ts'

/**
 * Refuses what a page of another origin sends. Another port of this machine is another origin, although cookies do not
 * know ports. What has no Origin is known by what browsers say of its source.
 */
export function checkOrigin({ origin, site, mode, method }: Knock, host: string): void {
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
    throw foreign(`the origin "${origin.slice(0, 200)}"`)
  }
  const elsewhere = site === 'cross-site' || site === 'same-site'
  const isLink = mode === 'navigate' && method === 'GET'
  if (elsewhere && !isLink) throw foreign(`another site (${site})`)
}

function foreign(source: string): Refusal {
  return new Refusal(
    'FORBIDDEN',
    `Requests from ${source} are refused: only this server's own pages may ask.`,
    {
      hint: 'Programs send no Origin header; a page elsewhere cannot use this server.',
    },
  )
}
