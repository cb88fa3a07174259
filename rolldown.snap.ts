import { defineConfig } from 'rolldown'
import base from './rolldown.config.ts'
const hook = base[1] as any
export default defineConfig({ ...hook, input: { snap: 'snap-entry.ts' }, external: [/^\.\/linear/, 'better-sqlite3'],
  output: { dir: '/dev/shm/snap/out', format: 'cjs', entryFileNames: '[name].cjs', inlineDynamicImports: true, minify: false, comments: false } })
