import { join } from 'node:path'
import { captureFromInput } from './capture-hook.ts'

// The whole of `waymark-capture`. A registered line is `waymark-capture <client> <event>`, the event as the client calls
// it. For events of the gate it is `waymark hook <event> <client>`, which records first and then judges.
// Codex trusts a line by its hash: neither of the two ever changes.
captureFromInput({
  word: process.argv[2] ?? '',
  environment: process.env,
  workingFolder: process.cwd(),
  at: Math.floor(performance.timeOrigin),
  program: join(import.meta.dirname, '..', 'bin', 'waymark.js'),
})
