/** A manifest or lock file that lists packages, by its name in lower case. */
const manifestNames = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'yarn.lock',
  'bun.lock',
  'pyproject.toml',
  'requirements.txt',
  'requirements-dev.txt',
  'setup.py',
  'setup.cfg',
  'poetry.lock',
  'uv.lock',
  'Pipfile',
  'Pipfile.lock',
  'go.mod',
  'go.sum',
  'Cargo.toml',
  'Cargo.lock',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'libs.versions.toml',
  'Gemfile',
  'Gemfile.lock',
  'composer.json',
  'composer.lock',
  'packages.config',
  'Directory.Packages.props',
  'packages.lock.json',
] as const

/** Patterns of files that list packages, wherever they are; no file matches two of them. */
export const manifestPatterns = [
  ...manifestNames.map((name) => `**/${name}`),
  '**/requirements/*.txt',
  '**/*.csproj',
  '**/*.fsproj',
  '**/*.gemspec',
  '**/environment.yml',
  '**/deno.json',
  '**/deno.lock',
  '**/bun.lockb',
]

/** Where manifests are looked for: in each folder of these, and above it. */
export function manifestPaths(folders: readonly string[]): readonly string[] {
  const all = new Set(folders.flatMap(withParents))
  return [...all].flatMap((folder) => manifestNames.map((name) => `${folder}${name}`))
}

/** A folder, ending with `/`, and those above it up to the top, which is empty. */
function withParents(folder: string): readonly string[] {
  const parts = folder.split('/').filter(Boolean)
  return ['', ...parts.map((_, index) => `${parts.slice(0, index + 1).join('/')}/`)]
}

/** The named packages that none of these texts has, by their normalized names. */
export function missingPackages(added: readonly string[], manifests: readonly string[]): readonly string[] {
  if (manifests.length === 0) return []
  const texts = manifests.map(plainText)
  return added.filter((name) => {
    const parts = packageNames(name)
    return parts.length > 0 && !texts.some((text) => parts.every((part) => hasName(text, part)))
  })
}

/** The parts of a package's name without version, extras and registry; empty for anything else. */
function packageNames(text: string): readonly string[] {
  const bare = text
    .trim()
    .replace(/^[`'"]|[`'"]$/g, '')
    .replace(/^(?:npm|jsr|pip|pypi|cargo|crates|gem|composer|nuget|go|maven):/i, '')
    .replace(/\[.*?\]/, '')
    .replace(/\s+(?=[\d^~<>=v(*]).*$/, '')
  const name = bare.replace(/(?!^)@.*$|[=<>~^!(,;].*$/, '').replace(/:(?:[\d^~*v]|latest|dev-).*$/i, '')
  if (!/^@?[\p{L}\p{N}][\p{L}\p{N}._/:-]*$/u.test(name) || /^\w+:\/\//.test(name)) return []
  // "Installed ffmpeg with apt" is about no package of the project.
  if (/\b(?:apt|brew|dnf|yum|apk|docker|global|system)\b/i.test(text)) return []
  return name
    .split(':')
    .map(plainText)
    .filter((part) => /[a-z]/.test(part))
}

function plainText(text: string): string {
  return text.toLowerCase().replace(/[_.]/g, '-')
}

/** Whether a text has a name that is not a part of a longer one. */
function hasName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + name.length] ?? ' ']
    if (!/[a-z0-9-]/.test(before) && !/[a-z0-9]/.test(after)) return true
  }
  return false
}
