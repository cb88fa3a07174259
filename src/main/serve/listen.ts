import type { Server } from 'node:http'

/** Resolves once the server listens; fails with the system's error, such as EADDRINUSE. */
export function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ port, host, exclusive: true }, () => {
    server.off('error', reject)
    resolve()
  })
  return promise
}

/** Whether a port could not be had because somebody has it, or it is kept for others. */
export function isTaken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EADDRINUSE' || code === 'EACCES'
}
