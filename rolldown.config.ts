import { defineConfig } from 'rolldown'

/** One entry, chunks that load when a command needs them, and the threads: one reads long definitions, one plans. */
export default defineConfig({
  input: {
    waymark: 'src/main/main.ts',
    'definition-worker': 'src/definitions/definition-worker.ts',
    'plan-worker': 'src/plans/plan-worker.ts',
  },
  platform: 'node',
  external: ['better-sqlite3'],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    // All beside each other, because each reader finds its thread beside the chunk it is in. With a hash,
    // because a server that runs while we build loads its own chunks later.
    chunkFileNames: '[name]-[hash].js',
    minify: true,
  },
})
