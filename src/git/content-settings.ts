import { createHash } from 'node:crypto'
import { readRegular } from '../files/regular-file.ts'
import { configured, contentSettings } from './configuration.ts'
import { personalRules } from './conversion.ts'
import { repositoryPairs, type Span } from './differences.ts'
import { displayPath } from './path-bytes.ts'
import type { Repository } from './repository.ts'
import type { Environment } from './run-git.ts'

/** What decided which files and which content git saw, by name: settings as they are, files by a digest. */
export type ContentSettings = Readonly<Record<string, string>>

/** Everything outside the work tree that decides what git sees in it. */
export async function contentSettingsOf(
  { configuration, exclude, attributes, sparseCheckout }: Repository,
  environment: Environment,
): Promise<ContentSettings> {
  const files = {
    'info/exclude': exclude,
    'info/attributes': attributes,
    'info/sparse-checkout': sparseCheckout,
    "the user's ignore rules": personalRules(configuration, environment, 'ignore'),
    "the user's attributes": personalRules(configuration, environment, 'attributes'),
  }
  const digests = await Promise.all(
    Object.entries(files).map(async ([name, path]) => [name, await digestOf(path)] as const),
  )
  const settings = contentSettings.map((key) => [key, configured(configuration, key) ?? ''] as const)
  return Object.fromEntries([...settings, ...digests].filter(([, value]) => value !== ''))
}

/** A sentence for each repository whose settings are not what they were: what they hide now they did not hide then. */
export function settingsDoubts(span: Span): string[] {
  return repositoryPairs(span).flatMap(({ from, to, presence }) => {
    if (presence !== 'both' || span.to.repositoryMissing || !from.settings || !to.settings) return []
    const { settings: before } = from
    const { settings: after } = to
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    // HEAD stayed, so no checkout brought other files.
    const leftOut = from.tree === to.tree && from.leftOut !== to.leftOut
    const changed = names.filter((name) => before[name] !== after[name]).sort()
    if (leftOut && changed.length === 0) changed.push('what the sparse checkout leaves out')
    if (changed.length === 0) return []
    const where = to.prefix === '' ? '' : ` in ${displayPath(to.prefix)}`
    return [
      `What git looks at${where} changed during the task: ${changed.join(', ')}. An edit may not show because of it.`,
    ]
  })
}

async function digestOf(path: string): Promise<string> {
  if (path === '') return ''
  return readRegular(path).then(
    (content) => (hasRules(content) ? createHash('sha256').update(content).digest('hex') : ''),
    () => '',
  )
}

// A file of comments, as git puts there itself, is the same as none.
function hasRules(content: Buffer): boolean {
  return content
    .toString('latin1')
    .split('\n')
    .some((line) => line.trim() !== '' && !line.startsWith('#'))
}
