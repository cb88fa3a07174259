import { createHmac } from 'node:crypto'
import { serialize } from 'hono/utils/cookie'

/** What a writing request of a session must repeat: only a page of our own origin can read it. */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('waymark csrf').digest('base64url')
}

/** A cookie of a session; with 0 seconds it is taken out of the browser. */
export function sessionCookie(
  name: string,
  value: string,
  { secure, seconds }: { readonly secure: boolean; readonly seconds: number },
): string {
  return serialize(name, value, { path: '/', httpOnly: true, sameSite: 'Strict', maxAge: seconds, secure })
}
