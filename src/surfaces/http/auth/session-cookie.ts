import { createHmac } from 'node:crypto'
import { serialize } from 'hono/utils/cookie'

/** The value that writing requests must repeat: only a page of our origin can read it. */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('waymark csrf').digest('base64url')
}

/** The cookie of a session; 0 seconds remove it from the browser. */
export function sessionCookie(
  name: string,
  value: string,
  { secure, seconds }: { readonly secure: boolean; readonly seconds: number },
): string {
  return serialize(name, value, { path: '/', httpOnly: true, sameSite: 'Strict', maxAge: seconds, secure })
}
