import { Failure } from '../../domain/failure.ts'
import { tell } from '../../surfaces/cli/process-terminal.ts'

/** Runs a command; what cannot be done is told on standard error, with exit code 2 where it was not understood. */
export async function reported(run: () => Promise<void> | void): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    tell(`waymark: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`)
    process.exitCode = error.code === 'INVALID_INPUT' ? 2 : 1
  }
}
