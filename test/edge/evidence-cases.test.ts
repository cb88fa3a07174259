// The cases of the witness, each of whose calls goes over the wire to the machine with the work tree.
process.env['WAYMARK_TEST_THROUGH'] = 'edge'

await import('../evidence/everyday.test.ts')
await import('../evidence/hostile.test.ts')
