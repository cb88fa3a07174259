import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** A file of the repository; paths are relative to its top, with `/`. */
export interface SourceFile {
  readonly path: string
  readonly text: string
  /** The modules it imports: a path of this repository, `node:…` or a package's name. */
  readonly imports: readonly Import[]
}

export interface Import {
  readonly target: string
  /** It is gone when the program runs. */
  readonly typeOnly: boolean
  /** It is loaded when the program comes to it. */
  readonly isLate: boolean
}

/** The files below a folder whose names end so, without what is installed or built. */
export function filesBelow(folder: string, ...endings: readonly string[]): readonly SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !path.includes('node_modules/'))
    .map(readSource)
}

/** Everything below `src` that is shipped. */
export function productFiles(): readonly SourceFile[] {
  return filesBelow('src', '.ts').filter(({ path }) => !path.endsWith('.test.ts'))
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8')
  return { path, text, imports: importsOf(path, text) }
}

// Static imports, re-exports and `import()` alike.
const statement =
  /(?:^|\n)\s*(import|export)(\s+type)?\s[^'"`;]*?from\s+['"]([^'"]+)['"]|(?:^|\n)\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/g

function importsOf(path: string, text: string): readonly Import[] {
  return [...text.matchAll(statement)].map(([, , type, from, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic ?? ''
    const target = specifier.startsWith('.')
      ? normalize(join(dirname(path), specifier))
      : packageOf(specifier)
    return { target, typeOnly: type !== undefined, isLate: dynamic !== undefined }
  })
}

/** `@scope/name/sub` is of `@scope/name`; `node:fs/promises` stays what it is. */
function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  const parts = specifier.split('/')
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier)
}
