import { readServeFlags } from '../settings/serve-flags.ts'
import { openLog } from './log.ts'
import { reported } from './reported.ts'
import { serve } from './serve.ts'

/** `waymark serve`. */
export function serveCommand(words: readonly string[]): Promise<void> {
  return reported(async () => {
    const flags = readServeFlags(words)
    await serve(flags, openLog(flags.logLevel))
  })
}
