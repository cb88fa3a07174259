import { rememberAnswers } from '../../../kernel/limited-map.ts'
import { foldCase } from './area.ts'

/** The purpose of a file, by its path: files that any task may touch are judged less strictly. */
export type FileKind = 'lock' | 'manifest' | 'ci' | 'config' | 'docs' | 'test' | 'source'

/** The kinds that any task may touch; lock files follow their manifests. */
export const sharedKinds = ['manifests', 'ci', 'config', 'docs', 'tests'] as const
export type SharedKind = (typeof sharedKinds)[number]

/** Null for source code. */
export function sharedKind(path: string): SharedKind | null {
  return kindWords[fileKind(path)]
}

const kindWords = {
  lock: 'manifests',
  manifest: 'manifests',
  ci: 'ci',
  config: 'config',
  docs: 'docs',
  test: 'tests',
  source: null,
} as const satisfies Record<FileKind, SharedKind | null>

/** Determines a file's kind by its path. */
export const fileKind = rememberAnswers(5_000, (path: string): FileKind => {
  const lower = foldCase(path)
  const name = lower.slice(lower.lastIndexOf('/') + 1)
  if (manifestsOf(name) !== null) return 'lock'
  return (
    KINDS.find(({ names, paths }) => names?.test(name) === true || paths?.test(lower) === true)?.kind ??
    'source'
  )
})

/** The names of the manifests that a lock file follows; null when the name is not a lock file's. */
export function manifestsOf(lockName: string): readonly string[] | null {
  return LOCKS.get(foldCase(lockName)) ?? null
}

const NODE = ['package.json', 'pnpm-workspace.yaml', '.npmrc', '.yarnrc.yml']
const PYTHON = ['pyproject.toml', 'setup.py', 'setup.cfg']
const GRADLE = [
  'build.gradle',
  'build.gradle.kts',
  'settings.gradle',
  'settings.gradle.kts',
  'libs.versions.toml',
]

const LOCKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['package-lock.json', NODE],
  ['npm-shrinkwrap.json', NODE],
  ['yarn.lock', NODE],
  ['pnpm-lock.yaml', NODE],
  ['bun.lock', NODE],
  ['bun.lockb', NODE],
  ['deno.lock', ['deno.json', 'deno.jsonc', 'package.json']],
  ['cargo.lock', ['cargo.toml']],
  ['poetry.lock', PYTHON],
  ['uv.lock', PYTHON],
  ['pdm.lock', PYTHON],
  ['pylock.toml', PYTHON],
  ['pixi.lock', ['pixi.toml', 'pyproject.toml']],
  ['pipfile.lock', ['pipfile']],
  ['gemfile.lock', ['gemfile', 'gems.rb']],
  ['composer.lock', ['composer.json']],
  ['go.sum', ['go.mod']],
  ['go.work.sum', ['go.work', 'go.mod']],
  ['mix.lock', ['mix.exs']],
  ['rebar.lock', ['rebar.config']],
  ['pubspec.lock', ['pubspec.yaml']],
  ['flake.lock', ['flake.nix']],
  ['podfile.lock', ['podfile']],
  ['package.resolved', ['package.swift']],
  ['packages.lock.json', ['directory.packages.props', 'packages.config']],
  ['paket.lock', ['paket.dependencies']],
  ['gradle.lockfile', GRADLE],
  ['buildscript-gradle.lockfile', GRADLE],
  ['stack.yaml.lock', ['stack.yaml', 'package.yaml']],
  ['module.bazel.lock', ['module.bazel']],
  ['.terraform.lock.hcl', ['versions.tf', 'main.tf', 'providers.tf']],
  ['chart.lock', ['chart.yaml']],
  ['conan.lock', ['conanfile.py', 'conanfile.txt']],
])

const MANIFESTS = [...new Set([...LOCKS.values()].flat())]
  .map((name) => name.replaceAll('.', '\\.'))
  .join('|')

interface KindRule {
  readonly kind: FileKind
  readonly names?: RegExp
  readonly paths?: RegExp
}

// Checked in order: the first kind that fits wins.
const KINDS: readonly KindRule[] = [
  {
    kind: 'manifest',
    names: new RegExp(
      `^(${MANIFESTS}|requirements.*\\.txt|pom\\.xml|.*\\.(csproj|fsproj|sln|slnx|gemspec|cabal))$`,
      'u',
    ),
  },
  {
    kind: 'ci',
    names:
      /^(\.gitlab-ci.*\.ya?ml|\.travis\.yml|jenkinsfile|azure-pipelines.*\.ya?ml|bitbucket-pipelines\.yml|\.drone\.yml)$/u,
    paths: /(^|\/)\.(github|gitlab|circleci|buildkite|woodpecker|husky)\//u,
  },
  {
    kind: 'test',
    names: /([._-](test|tests|spec|e2e)\.[a-z0-9]+|^test_.*\.py|^conftest\.py|_spec\.rb|\.snap)$/u,
    paths: /(^|\/)(tests?|__tests__|__snapshots__|__mocks__|specs?|e2e)\//u,
  },
  {
    kind: 'docs',
    names:
      /^(readme|changelog|changes|license|licence|copying|contributing|authors|notice|security|code_of_conduct)(\.[a-z]+)?$|\.(md|mdx|rst|adoc)$/u,
    paths: /(^|\/)docs?\//u,
  },
  {
    kind: 'config',
    names:
      /^(tsconfig.*\.json|jsconfig\.json|.*\.config\.[cm]?[jt]sx?|\.[a-z-]+rc(\.[a-z0-9]+)?|biome\.jsonc?|nx\.json|turbo\.json|lerna\.json|\.editorconfig|\.git(ignore|attributes|modules)|\.dockerignore|\.node-version|\.tool-versions|dockerfile(\..*)?|(docker-)?compose.*\.ya?ml|makefile|justfile|cmakelists\.txt|tox\.ini|mypy\.ini|pytest\.ini|ruff\.toml|rustfmt\.toml|\.golangci\.ya?ml|\.pre-commit-config\.yaml|renovate\.json|\.env\.(example|sample|template))$/u,
    paths: /(^|\/)\.(vscode|idea|cargo|devcontainer)\//u,
  },
]
