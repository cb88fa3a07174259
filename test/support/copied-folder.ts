import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { git } from './git.ts'

const made = new Map<string, string>()
let home: string | undefined

/**
 * Fills a new folder as `make` does. What has the same name is made once for a process, and copied from then on: that is
 * far cheaper than the many processes of git that a repository takes. A copy's files have other times and numbers than
 * the index of the repository says.
 */
export function copyFolder(name: string, folder: string, make: (folder: string) => void): void {
  let template = made.get(name)
  if (template === undefined) {
    template = join(mkdtempSync(join(templateFolder(), 'made-')), 'folder')
    make(template)
    // Examples that git puts there; nothing runs them.
    rmSync(join(template, '.git', 'hooks'), { recursive: true, force: true })
    made.set(name, template)
  }
  cpSync(template, folder, { recursive: true, verbatimSymlinks: true })
}

/** Where this process keeps what is made once and copied. */
export function templateFolder(): string {
  home ??= newHome()
  return home
}

function newHome(): string {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-templates-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Fills a new folder with a repository in which these files are committed. */
export function commitCopied(folder: string, files: Readonly<Record<string, string>>): void {
  copyFolder(JSON.stringify(files), folder, (template) => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(template, path)), { recursive: true })
      writeFileSync(join(template, path), content)
    }
    git(template, 'init', '-q', '-b', 'main')
    git(template, 'add', '.')
    // Servers to look at are begun without what the tests tell git.
    git(template, '-c', 'user.name=Tess', '-c', 'user.email=tess@example.com', 'commit', '-qm', 'Begin')
  })
}
