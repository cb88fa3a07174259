/** The name under which a request is counted: few, whatever paths are asked for. */
export function routeLabel(path: string, operations: ReadonlySet<string>): string {
  const rest = path.replace(/^\/p\/[^/]+/, '')
  const name = /^\/api\/([^/]+)$/.exec(rest)?.[1]
  if (name !== undefined) return operations.has(name) || own.includes(rest) ? rest : '/api/*'
  return own.includes(rest) ? rest : '/*'
}

const own = [
  '/api/openapi.json',
  '/api/journal',
  '/api/projects',
  '/api/session',
  '/api/login-code',
  '/api/login-proof',
  '/api/logout',
  '/healthz',
  '/metrics',
  '/login',
  '/mcp',
  '/ws',
]
