import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'rolldown/utils'

const jsx = { runtime: 'automatic', importSource: 'preact' } as const

// Node runs TypeScript as it is, but neither JSX nor the style sheets that a view imports.
registerHooks({
  load: (url, context, next) => {
    if (url.endsWith('.css')) return { format: 'module', source: '', shortCircuit: true }
    const path = url.startsWith('file:') ? fileURLToPath(url) : ''
    if (url.endsWith('.md?raw')) {
      const source = `export default ${JSON.stringify(readFileSync(path, 'utf8'))}`
      return { format: 'module', source, shortCircuit: true }
    }
    if (!url.endsWith('.tsx')) return next(url, context)
    const { code, errors } = transformSync(path, readFileSync(path, 'utf8'), { jsx })
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'))
    return { format: 'module', source: code, shortCircuit: true }
  },
})

/** A module of the dashboard, by its path in `web/`. It reads the document as it loads. */
export async function importView(path: string): Promise<any> {
  return import(new URL(`../../web/${path}`, import.meta.url).href)
}
