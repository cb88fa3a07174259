// Every case of the witness, each of whose calls goes over the wire to the machine with the work tree.
process.env['WAYMARK_TEST_THROUGH'] = 'edge'

await import('../evidence/content.test.ts')
await import('../evidence/everyday.test.ts')
await import('../evidence/faults.test.ts')
await import('../evidence/folders.test.ts')
await import('../evidence/formats.test.ts')
await import('../evidence/history.test.ts')
await import('../evidence/hostile.test.ts')
await import('../evidence/ignored.test.ts')
await import('../evidence/keeping.test.ts')
await import('../evidence/nested.test.ts')
await import('../evidence/paths.test.ts')
await import('../evidence/settings.test.ts')
await import('../evidence/special-files.test.ts')
await import('../evidence/without-git.test.ts')
