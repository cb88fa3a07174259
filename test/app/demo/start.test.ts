import { expect, test } from 'vitest'
import { runProgram } from './played.ts'

test('npm start serves this checkout, prints its address, and says how to see the demo', async () => {
  const program = runProgram('scripts/run.mjs', 'scripts/start.ts', '--port', '0')
  const { witness } = await program.ask('status')
  expect(witness).toBe('git')
  const { code, out } = await program.interrupt()
  expect(out).toMatch(
    /^Serving the dashboard on the record of this checkout; Ctrl-C ends it\.\n.*npm run demo\n/,
  )
  expect(out).toMatch(/Waymark serves \S+ at http:\/\/127\.0\.0\.1:\d+\n/)
  expect(code).toBe(0)
})

test('npm run demo plays the recorded day', async () => {
  const program = runProgram('scripts/run.mjs', 'scripts/start.ts', 'demo', '--at-once', '--port', '0')
  await program.printed(/A recorded day, all at once/)
  const { code } = await program.interrupt()
  expect(code).toBe(0)
  expect(program.leftovers()).toEqual([])
})
