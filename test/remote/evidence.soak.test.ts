// Every case of the witness, as a server may have them measured on a machine.
process.env['WAYMARK_TEST_THROUGH'] = 'machine'

await import('../git/content.test.ts')
await import('../git/everyday.test.ts')
await import('../git/faults.test.ts')
await import('../git/folders.test.ts')
await import('../git/formats.test.ts')
await import('../git/history.test.ts')
await import('../git/hostile.test.ts')
await import('../git/ignored.test.ts')
await import('../git/keeping.test.ts')
await import('../git/nested.test.ts')
await import('../git/paths.test.ts')
await import('../git/settings.test.ts')
await import('../git/special-files.test.ts')
await import('../git/without-git.test.ts')
