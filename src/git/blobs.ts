import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './process.ts'

/** The ids of files by names such as `<commit>:<path>`; null if there is no such file. */
export async function objectIds(
  place: PrivateDirectory,
  names: readonly string[],
): Promise<readonly (string | null)[]> {
  if (names.length === 0) return []
  // With NUL as separator, a NUL inside a name would shift the answers.
  const broken = names.find((name) => name.includes('\0'))
  if (broken !== undefined) {
    const sound = await objectIds(
      place,
      names.filter((name) => !name.includes('\0')),
    )
    const ids = sound.values()
    return names.map((name) => (name.includes('\0') ? null : (ids.next().value ?? null)))
  }
  // Only a newer git accepts names that contain the usual separator.
  const odd = names.some((name) => name.includes('\n'))
  const input = Buffer.from(names.map((name) => `${name}${odd ? '\0' : '\n'}`).join(''), 'latin1')
  const question = [
    'cat-file',
    '--batch-check=%(objectname) %(objecttype)',
    '--buffer',
    ...(odd ? ['-z'] : []),
  ]
  const output = (await git(question, privateCall(place, input))).toString('latin1')
  let at = 0
  return names.map((name) => {
    const missing = `${name} missing\n`
    if (output.startsWith(missing, at)) {
      at += missing.length
      return null
    }
    const end = output.indexOf('\n', at)
    const [oid = '', type] = output.slice(at, end).split(' ')
    at = end + 1
    return type === 'blob' ? oid : null
  })
}

/** The sizes of objects in bytes; missing ones are left out. */
export async function sizesOf(
  place: PrivateDirectory,
  oids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (oids.length === 0) return new Map()
  const input = Buffer.from(`${oids.join('\n')}\n`, 'latin1')
  const question = ['cat-file', '--batch-check=%(objectname) %(objectsize)', '--buffer']
  const lines = (await git(question, privateCall(place, input))).toString('latin1').split('\n')
  return new Map(
    lines.flatMap((line) => {
      const [, oid, size] = /^([0-9a-f]+) (\d+)$/.exec(line) ?? []
      return oid === undefined ? [] : [[oid, Number(size)] as const]
    }),
  )
}

/** Contents by their ids; missing ones are left out. */
export async function readBlobs(
  place: PrivateDirectory,
  oids: readonly string[],
): Promise<ReadonlyMap<string, Buffer>> {
  const contents = new Map<string, Buffer>()
  const wanted = [...new Set(oids)]
  if (wanted.length === 0) return contents
  const input = Buffer.from(`${wanted.join('\n')}\n`, 'latin1')
  const output = await git(['cat-file', '--batch', '--buffer'], privateCall(place, input))
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at)
    if (end < 0) break
    const [oid = '', type, size] = output.toString('latin1', at, end).split(' ')
    at = end + 1
    if (size === undefined) continue
    const next = at + Number(size)
    if (type === 'blob') contents.set(oid, output.subarray(at, next))
    at = next + 1
  }
  return contents
}
