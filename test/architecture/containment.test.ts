import { expect, test } from 'vitest'
import { productFiles } from './source-files.ts'

/** A path's beginning compared by hand: `a.startsWith(b + sep)`, or a relative path that begins with two dots. */
const byHand = [
  /\.startsWith\((?:[^()]*\+ (?:sep|'\/')|`\$\{[^`]*\}(?:\/|\$\{sep\})`)\)/,
  /\.startsWith\('\.\.\/?'\)|\[0\] [!=]== '\.\.'/,
]

test('only one module tells whether a path of the disk lies in a folder', () => {
  const files = productFiles().filter(({ path, text }) => {
    const looksAtDisk = /\brealpath(?:Sync)?\b|from 'node:path'/.test(text)
    return path !== 'src/kernel/files/contained-file.ts' && looksAtDisk
  })
  expect(files.length).toBeGreaterThan(50)
  expect(files.filter(({ text }) => byHand.some((form) => form.test(text))).map(({ path }) => path)).toEqual(
    [],
  )
})

/** Functions of `node:fs` that write, move or delete. */
const writing =
  /\b(?:appendFile|ch(?:mod|own)|copyFile|cp|createWriteStream|l?link|mkdir|mkdtemp|rename|rm|rmdir|symlink|truncate|unlink|utimes|writeFile)(?:Sync)?\b/
const openedForWriting =
  /\bopen(?:Sync)?\((?:[^()]|\([^()]*\))*(?:'(?:[aw]x?\+?|r\+)'|O_(?:WRONLY|RDWR|CREAT|DIRECTORY))/

/** The modules that call them, by what they write. Whatever else writes below a project goes through the first. */
const writers = {
  'files below a base folder, through no link': [
    'kernel/files/contained-file.ts',
    'kernel/files/open-folder.ts',
    'kernel/files/replaced-file.ts',
  ],
  'settings of clients, each folder held open': ['clients/setup/disk.ts'],
  'git’s own folder of a new work tree': ['git/linked-trees.ts'],
  'a new folder of the system’s for temporary files': [
    'app/demo/project.ts',
    'app/review.ts',
    'git/launcher.ts',
    'git/line-history.ts',
  ],
  'snapshots: new names in a private folder, removed by `removeFromState`': [
    'git/conversion.ts',
    'git/copies.ts',
    'git/changes-from-head.ts',
    'git/index-copy.ts',
    'git/pack.ts',
    'git/private-directory.ts',
    'git/private-store.ts',
    'git/recorded-state.ts',
    'git/undo.ts',
    'git/witness.ts',
  ],
  'the user’s own state folder': [
    'app/capture/capture-command.ts',
    'app/hook-server.ts',
    'app/serve/open.ts',
    'app/serve/running-servers.ts',
    'app/setup/records.ts',
    'app/unexpected-errors.ts',
    'gate/commands/command-approvals.ts',
    'gate/evidence/preview-store.ts',
    'kernel/files/private-file.ts',
    'sessions/capture/settings-file.ts',
  ],
  'the lock of a hook queue, whose folder is looked at first': ['sessions/capture/ingest-lock.ts'],
  'the database and its backups, whose folder is looked at first': [
    'store/safety/copy.ts',
    'store/safety/restore-backup.ts',
    'store/safety/rollback-detection.ts',
    'store/sqlite/database-file.ts',
    'store/store.ts',
  ],
  'a file that CI names': ['app/ci/check.ts'],
}

test('files are written, moved and deleted by the modules that are listed, and by no other', () => {
  const found = productFiles().filter(({ text }) => {
    const imported = [...text.matchAll(/import (\{[^}]*\}) from 'node:fs(?:\/promises)?'/g)].map(
      ([, names]) => names,
    )
    return imported.some((names = '') => writing.test(names)) || openedForWriting.test(text)
  })
  expect(found.map(({ path }) => path.replace('src/', '')).sort()).toEqual(
    Object.values(writers).flat().sort(),
  )
})

test('`node:fs` is imported by the names of its functions', () => {
  const whole =
    /import (?!type )(?:\* as )?\w+ from 'node:fs|(?:import|require|getBuiltinModule)\(['"`]node:fs/
  const through = /\bpromises\.(?!open\b|lstat\b|stat\b)/
  expect(
    productFiles().flatMap(({ path, text }) => (whole.test(text) || through.test(text) ? [path] : [])),
  ).toEqual([])
})

test('a folder is removed with all that is in it by one module, but for temporary ones', () => {
  const recursive = /\b(?:rm|rmSync)\((?:[^()]|\([^()]*\))*recursive: true/
  expect(
    productFiles()
      .flatMap(({ path, text }) => (recursive.test(text) ? [path.replace('src/', '')] : []))
      .sort(),
  ).toEqual(['app/demo/project.ts', 'app/review.ts', 'git/line-history.ts'])
})
