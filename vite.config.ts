import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import { licences } from './scripts/licences.mjs'

const root = import.meta.dirname

/** The dashboard, built into `dist/web`. Hashes have eight letters: the server keeps such files for ever. */
export default defineConfig({
  root: join(root, 'web'),
  base: '/',
  cacheDir: join(root, '.cache', 'vite'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(root, 'dist', 'web'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // A data: address would be an exception in the content security policy.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/[name]-[hash:8].js',
        chunkFileNames: 'assets/[name]-[hash:8].js',
        assetFileNames: 'assets/[name]-[hash:8][extname]',
      },
    },
  },
  plugins: [licences('third-party-licences.txt'), compressed()],
})

/**
 * Puts each text's compressed form beside it, so that the server compresses nothing while it answers. Of the program's
 * parts, which every browser takes compressed, this is all that the package holds.
 */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir }) {
      if (dir === undefined) return
      const files = readdirSync(dir, { recursive: true, withFileTypes: true })
      for (const { parentPath, name } of files.filter((entry) => entry.isFile())) {
        if (!/\.(js|css|html|svg|json)$/.test(name)) continue
        const bytes = readFileSync(join(parentPath, name))
        writeFileSync(join(parentPath, `${name}.gz`), gzipSync(bytes, { level: 9 }))
        if (basename(parentPath) === 'assets') rmSync(join(parentPath, name))
      }
    },
  }
}
