import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegular } from '../files/regular-file.ts'

/** Where the refs of a repository point: commits that existed when they were read. */
export interface RefTips {
  readonly all: readonly string[]
  /** Of remote-tracking branches: what a fetch brought. */
  readonly remote: readonly string[]
}

/** More refs than this are not read. */
const mostRefs = 20_000

/** Reads loose and packed refs without starting git. Null when there are too many, or they are kept in another way. */
export async function readRefTips(commonFolder: string): Promise<RefTips | null> {
  const packed = parsePackedRefs(await textOf(join(commonFolder, 'packed-refs')))
  const loose = await looseRefs(commonFolder)
  if (loose === null || packed.length + loose.length > mostRefs) return null
  const refs = [...packed, ...loose]
  const remote = refs.filter(({ name }) => name.startsWith('refs/remotes/'))
  return { all: tipsOf(refs), remote: tipsOf(remote) }
}

interface Ref {
  readonly name: string
  readonly tip: string
}

/** `<oid> <name>` per line; `^<oid>` is what the tag before it leads to. */
export function parsePackedRefs(text: string): readonly Ref[] {
  return text.split('\n').flatMap((line) => {
    const [tip = '', name = ''] = line.split(' ')
    if (/^[0-9a-f]{40,64}$/.test(tip) && name !== '') return [{ name, tip }]
    return /^\^[0-9a-f]{40,64}$/.test(tip) ? [{ name: '', tip: tip.slice(1) }] : []
  })
}

async function looseRefs(commonFolder: string): Promise<readonly Ref[] | null> {
  const entries = await readdir(join(commonFolder, 'refs'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  )
  const files = entries.filter((entry) => entry.isFile())
  if (files.length > mostRefs) return null
  const read = await Promise.all(
    files.map(async ({ parentPath, name }): Promise<Ref[]> => {
      const path = join(parentPath, name)
      const tip = (await textOf(path)).trim()
      const ref = path.slice(commonFolder.length + 1).replaceAll('\\', '/')
      return /^[0-9a-f]{40,64}$/.test(tip) ? [{ name: ref, tip }] : []
    }),
  )
  return read.flat()
}

function tipsOf(refs: readonly Ref[]): readonly string[] {
  return [...new Set(refs.map(({ tip }) => tip))]
}

async function textOf(path: string): Promise<string> {
  return readRegular(path).then(
    (content) => content.toString('latin1'),
    () => '',
  )
}
