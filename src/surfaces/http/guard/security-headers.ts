/** What every answer carries, so that a browser runs and shows nothing but our own files. */
export function securityHeaders(host: string | undefined): Readonly<Record<string, string>> {
  const live = host !== undefined && /^[\w.[\]:-]+$/.test(host) ? ` ws://${host} wss://${host}` : ''
  return {
    'Content-Security-Policy': [
      `default-src 'self'`,
      `connect-src 'self'${live}`, // older browsers do not count ws: as 'self'
      `img-src 'self' data:`,
      `object-src 'none'`,
      `base-uri 'none'`,
      `form-action 'self'`,
      `frame-ancestors 'none'`,
    ].join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  }
}
