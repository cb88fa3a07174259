import { parse as parseToml } from 'smol-toml'
import { isSameJson } from '../../../gate/domain/json.ts'
import {
  type PathPatterns,
  pathPatterns,
  patternProblem,
  splitPatterns,
} from '../../../kernel/path-pattern.ts'
import { foldCase } from './area.ts'

/** What a sensitive file controls: what runs unattended, or what agents are told. */
export const sensitiveKinds = ['CI', 'git hooks', 'agents', 'scripts', 'setting'] as const
export type SensitiveKind = (typeof sensitiveKinds)[number]

/** A change of such a file needs a person, unless the areas or the outcome name it. Paths are in lower case. */
const sensitivePaths: readonly (readonly [SensitiveKind, RegExp])[] = [
  ['CI', /(^|\/)\.(github|gitea|forgejo)\/(workflows|actions)\//u],
  ['CI', /(^|\/)\.(circleci|buildkite|woodpecker|semaphore|teamcity|tekton|azure-pipelines|gitlab\/ci)\//u],
  [
    'CI',
    /(^|\/)(\.gitlab-ci[^/]*\.ya?ml|\.travis\.ya?ml|jenkinsfile[^/]*|azure-pipelines[^/]*\.ya?ml|bitbucket-pipelines\.ya?ml|\.woodpecker\.ya?ml|\.drone\.(ya?ml|star|jsonnet)|\.?appveyor\.ya?ml|\.cirrus\.(ya?ml|star)|cloudbuild\.(ya?ml|json)|buildspec\.ya?ml|codemagic\.ya?ml|wercker\.ya?ml)$/u,
  ],
  ['git hooks', /(^|\/)\.(husky|githooks|git-hooks)\//u],
  [
    'git hooks',
    /(^|\/)(\.?lefthook(-local)?\.(ya?ml|toml|jsonc?)|\.pre-commit-(config|hooks)\.ya?ml|prek\.toml|\.overcommit\.ya?ml|\.huskyrc[^/]*|\.lintstagedrc[^/]*|lint-staged\.config\.[^/]*|\.?simple-git-hooks\.[^/]*|captainhook\.json|grumphp\.ya?ml(\.dist)?)$/u,
  ],
  [
    'agents',
    /(^|\/)\.(claude|claude-plugin|cursor|codex|gemini|opencode|windsurf|devin|kiro|junie|roo|clinerules|cline|continue|amazonq|augment|agents?|copilot|goose|zed|waymark\/processes)\//u,
  ],
  [
    'agents',
    /(^|\/)\.github\/(copilot-instructions\.md$|(instructions|prompts|agents|chatmodes|hooks|skills)\/)/u,
  ],
  ['agents', /(^|\/)\.vscode\/(mcp|tasks|settings)\.json$/u],
  [
    'agents',
    /(^|\/)(agents?(\.override|\.local)?\.md|claude(\.local)?\.md|gemini\.md|\.?mcp\.json|\.cursorrules|\.windsurfrules|\.clinerules|\.roomodes|\.goosehints|\.aider\.conf\.ya?ml|opencode\.jsonc?|\.rules)$/u,
  ],
]

/** The setting: path patterns with commas between them. `infra/` adds, `!docs/AGENTS.md` takes out. */
export interface SensitiveList {
  readonly added: PathPatterns | null
  readonly excluded: PathPatterns | null
}

/** The value of an unset setting. */
export const sensitiveDefault = 'default'

/** Reads the setting. Fails with INVALID_INPUT for a pattern that can match nothing. */
export function sensitiveList(setting: string): SensitiveList {
  const patterns = setting === sensitiveDefault ? [] : splitPatterns(setting)
  const added = patterns.filter((pattern) => !pattern.startsWith('!'))
  const excluded = patterns.flatMap((pattern) => (pattern.startsWith('!') ? [pattern.slice(1)] : []))
  return {
    added: added.length === 0 ? null : pathPatterns(added),
    excluded: excluded.length === 0 ? null : pathPatterns(excluded),
  }
}

/** Whether a text is a list of usable patterns. */
export function isSensitiveList(text: string): boolean {
  return text === sensitiveDefault || splitPatterns(text).every((pattern) => patternProblem(pattern) === null)
}

/** The kind of a file by its path, relative to the work tree and, if inside, to the project's folder. */
export function sensitiveKind(
  path: string,
  own: string | null,
  { added, excluded }: SensitiveList,
): SensitiveKind | 'manifest' | null {
  if (own !== null && excluded?.matches(own)) return null
  if (own !== null && added?.matches(own)) return 'setting'
  const lower = foldCase(path)
  const found = sensitivePaths.find(([, pattern]) => pattern.test(lower))
  if (found) return found[0]
  return readersOf(lower) === null ? null : 'manifest'
}

/** Whether the scripts, hooks or install steps of a manifest differ, or cannot be compared. Null: no file. */
export function isScriptChange(path: string, before: string | null, after: string | null): boolean {
  const read = readersOf(foldCase(path))
  if (read === null) return false
  try {
    return !isSameJson(before === null ? [] : read(before), after === null ? [] : read(after))
  } catch {
    return true
  }
}

type TextParser = (text: string) => readonly unknown[]

function readersOf(lower: string): TextParser | null {
  return manifests.get(lower.slice(lower.lastIndexOf('/') + 1)) ?? null
}

/** The values that run something; `*` stands for every key of an object. */
function keysIn(parse: (text: string) => unknown, keys: readonly string[]): TextParser {
  const paths = keys.map((key) => key.split('.'))
  return (text) => {
    const data = parse(text.replace(/^\uFEFF/, ''))
    return paths.flatMap((path) => valuesAt(data, path).map((value) => [path.join('.'), value]))
  }
}

function valuesAt(data: unknown, [key, ...rest]: readonly string[]): readonly unknown[] {
  if (key === undefined) return [data]
  if (typeof data !== 'object' || data === null) return []
  if (key === '*') {
    return Object.entries(data).flatMap(([name, one]) => valuesAt(one, rest).map((value) => [name, value]))
  }
  return Object.hasOwn(data, key) ? valuesAt((data as Record<string, unknown>)[key], rest) : []
}

const parseJsonText = (text: string): unknown => JSON.parse(text)
const parseTomlText = (text: string): unknown => JSON.parse(JSON.stringify(parseToml(text)))

const manifests: ReadonlyMap<string, TextParser> = new Map([
  [
    'package.json',
    keysIn(parseJsonText, [
      'scripts',
      'husky',
      'simple-git-hooks',
      'lint-staged',
      'gitHooks',
      'pre-commit',
      'pre-push',
      'config.husky',
      'wireit',
      'gypfile',
      'trustedDependencies',
      'lavamoat.allowScripts',
      'pnpm.onlyBuiltDependencies',
      'pnpm.dangerouslyAllowAllBuilds',
    ]),
  ],
  ['composer.json', keysIn(parseJsonText, ['scripts', 'config.allow-plugins', 'extra.hooks'])],
  ['deno.json', keysIn(parseJsonText, ['tasks'])],
  [
    'pyproject.toml',
    keysIn(parseTomlText, [
      'build-system.build-backend',
      'build-system.backend-path',
      'tool.poetry.build',
      'tool.poe',
      'tool.taskipy',
      'tool.pdm.scripts',
      'tool.pdm.build',
      'tool.rye.scripts',
      'tool.pixi.tasks',
      'tool.hatch.build.hooks',
      'tool.hatch.build.targets.*.hooks',
      'tool.hatch.envs.*.scripts',
      'tool.hatch.envs.*.pre-install-commands',
      'tool.hatch.envs.*.post-install-commands',
      'tool.setuptools.cmdclass',
    ]),
  ],
  ['pixi.toml', keysIn(parseTomlText, ['tasks'])],
  ['cargo.toml', keysIn(parseTomlText, ['package.build'])],
  // A program that runs at each install.
  ['setup.py', (text) => [text]],
])
