import type { ProcessDefinition } from '../definition.ts'
import { type Finding, finding } from './finding.ts'

/**
 * A command that runs a file of the project, or what a manifest says, and pins nothing: whoever writes that file chooses
 * what runs after a person approved the line.
 */
export function pinning({ guards }: ProcessDefinition): readonly Finding[] {
  return guards.flatMap(({ name, guard }) => {
    if (guard.type !== 'command' || guard.pinned.length > 0) return []
    const files = [...new Set(commandsIn(guard.run).flatMap(runFrom))]
    if (files.length === 0) return []
    const message = `Guard "${name}" runs "${guard.run}", and what that does is written in ${files.join(' and ')}: pin ${files.length === 1 ? 'it' : 'them'} with pinned: [${files.map((file) => JSON.stringify(file)).join(', ')}], so that a change asks a person again.`
    return [finding('warning', 'nothing-pinned', { message, path: ['guards', name] })]
  })
}

/** The words of each command of a line, without variables that are set before it. */
function commandsIn(line: string): readonly (readonly string[])[] {
  return line.split(/&&|\|\||[;|\n]/).map((part) => {
    const words = part
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/^["']|["']$/g, ''))
    const first = words.findIndex((word) => !/^(?:\w+=.*|env|exec|time|nice|\(+|cd)$/.test(word))
    return first === -1 ? [] : words.slice(first)
  })
}

/** Programs that do what a file of the project says, and which. */
const manifests: Readonly<Record<string, string>> = {
  npm: 'package.json',
  npx: 'package.json',
  pnpm: 'package.json',
  yarn: 'package.json',
  bun: 'package.json',
  deno: 'deno.json',
  make: 'Makefile',
  gmake: 'Makefile',
  just: 'justfile',
  task: 'Taskfile.yml',
  rake: 'Rakefile',
  bundle: 'Gemfile',
  composer: 'composer.json',
  cargo: 'Cargo.toml',
  go: 'go.mod',
  mvn: 'pom.xml',
  gradle: 'build.gradle',
  tox: 'tox.ini',
  nox: 'noxfile.py',
  pytest: 'pyproject.toml',
  poetry: 'pyproject.toml',
  uv: 'pyproject.toml',
  dotnet: 'Directory.Build.props',
  mix: 'mix.exs',
}

const interpreter = /^(?:node|tsx|ts-node|python[\d.]*|ruby|perl|php|bash|sh|zsh|dash|pwsh)$/
const script = /\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh|bash|zsh|ps1)$/

function runFrom([program = '', ...words]: readonly string[]): readonly string[] {
  if (
    program.startsWith('./') ||
    program.startsWith('../') ||
    (program.includes('/') && !program.startsWith('/'))
  ) {
    return [program.replace(/^\.\//, '')]
  }
  const named = words.filter((word) => !word.startsWith('-'))
  if (interpreter.test(program)) {
    return named
      .filter((word) => script.test(word) && !word.startsWith('/'))
      .slice(0, 1)
      .map((file) => file.replace(/^\.\//, ''))
  }
  const manifest = Object.hasOwn(manifests, program) ? manifests[program] : undefined
  return manifest === undefined ? [] : [manifest]
}
