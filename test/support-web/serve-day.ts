import { fillBusyDay } from './busy-day.ts'
import { openServingDay } from './serving-day.ts'

/** Serves a project with a day's work in it, for looking at. `--empty` serves one in which nothing happened. */
const isEmpty = process.argv.includes('--empty')
const serving = await openServingDay({ folders: isEmpty ? ['fresh'] : ['diffkit', 'shop'] })
if (!isEmpty) await fillBusyDay(serving.day)
process.stdout.write(`${serving.login()}\n`)
process.on('SIGHUP', () => process.stdout.write(`${serving.login()}\n`))
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void serving.stop().then(() => process.exit()))
