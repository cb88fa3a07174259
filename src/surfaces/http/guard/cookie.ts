import { cookieLifetime } from './sessions.ts'

/** Cookies do not know ports, so that each server needs a name of its own. */
export function cookieName(port: number): string {
  return `waymark_session_${port}`
}

export function readCookie(header: string | undefined, name: string): string | null {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? null
}

/** Takes the cookie out of the browser. */
export function endedCookie(port: number): string {
  return `${cookieName(port)}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`
}

export function sessionCookie(port: number, secret: string): string {
  return `${cookieName(port)}=${secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${cookieLifetime}`
}
