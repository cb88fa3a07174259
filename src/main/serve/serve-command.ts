import type { Log } from '../../surfaces/http/serving.ts'
import { readServeFlags } from '../settings/serve-flags.ts'
import { openLog } from './log.ts'
import { reported } from './reported.ts'
import { serve } from './serve.ts'

/** `waymark serve`. */
export function serveCommand(words: readonly string[]): Promise<void> {
  return reported(async () => {
    const flags = readServeFlags(words)
    const log = openLog(flags.logLevel)
    takeConsole(log)
    await serve(flags, log)
  })
}

/** The library below the server tells the console what became of answers whose client left. */
function takeConsole(log: Log): void {
  console.info = (message: unknown) => log.debug(String(message))
  console.error = (error: unknown) => log.error('An answer could not be sent.', { error: String(error) })
}
