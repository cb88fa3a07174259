import { afterAll } from 'vitest'

// The cases of the witness, as a server may have them measured on a machine.
process.env['WAYMARK_TEST_THROUGH'] = 'machine'
afterAll(() => {
  delete process.env['WAYMARK_TEST_THROUGH']
})

// Files of one process share their modules: these are to be read once more, as tests of this file.
const anew = '?through=edge'
await import(/* @vite-ignore */ `../git/everyday.test.ts${anew}`)
await import(/* @vite-ignore */ `../git/hostile.test.ts${anew}`)
