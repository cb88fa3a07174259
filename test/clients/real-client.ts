import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import type { Variables } from '../support/program.ts'

const root = join(import.meta.dirname, '..', '..')
const fetched = process.env['WAYMARK_TEST_CLIENTS'] ?? join(root, '.cache', 'clients')
const modules = join(fetched, 'node_modules')
const programs: Readonly<Record<string, string>> = manifest.bin

/** A coding agent as it is started in a script, and what it needs to talk to a model on loopback. */
export interface RealClient {
  readonly id: string
  /** What is called in the packages that `npm run clients` fetches. */
  readonly program: string
  readonly words: (prompt: string) => readonly string[]
  readonly environment: Variables
  /** Files of its own in the home folder, by path. `{model}` becomes the model's address, `{folder}` the project. */
  readonly files?: Readonly<Record<string, string>>
  /** Its tool that writes a new file, and what that takes. */
  readonly write: { readonly tool: string; readonly input: (path: string, content: string) => object }
  readonly setup: readonly string[]
  /** Folders below the home and the project where it would have packages installed. */
  readonly installs?: readonly string[]
  /** How it tells whether its servers answer, and what it says of ours; Codex and Copilot CLI only list it. */
  readonly lists: RegExp
  /** Where it reads files of a project only in the very folder, its subfolders need those of the user. */
  readonly below?: readonly string[]
  /** What it does first, where it starts its servers beside the first request. */
  readonly first?: readonly Step[]
}

const architecture = process.arch === 'arm64' ? 'arm64' : 'x64'

export const realClients: readonly RealClient[] = [
  {
    id: 'claude',
    program: `@anthropic-ai/claude-code-linux-${architecture}/claude`,
    words: (prompt) => ['-p', prompt, '--model', 'claude-sonnet-4-5', '--permission-mode', 'acceptEdits'],
    environment: {
      ANTHROPIC_BASE_URL: '{model}',
      ANTHROPIC_API_KEY: 'sk-test',
      ENABLE_TOOL_SEARCH: 'false',
      // Its first request has the tools of servers, however long a busy machine takes to start them.
      CLAUDE_CODE_MCP_STARTUP_WAIT_MS: '20000',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    // The answer to its question at the first start; what a project allows counts from then on.
    files: { '.claude.json': '{"projects":{"{folder}":{"hasTrustDialogAccepted":true}}}' },
    write: { tool: '^Write$', input: (file_path, content) => ({ file_path, content }) },
    setup: [],
    lists: /waymark: waymark mcp - ✔ Connected/,
  },
  {
    id: 'codex',
    program: '@openai/codex/bin/codex.js',
    words: (prompt) => [
      'exec',
      '--model=gpt-5-codex',
      '--dangerously-bypass-hook-trust',
      '--dangerously-bypass-approvals-and-sandbox',
      '--config=model_provider="local"',
      '--config=model_providers.local.name="local"',
      '--config=model_providers.local.base_url="{model}/v1"',
      '--config=model_providers.local.wire_api="responses"',
      prompt,
    ],
    environment: { OPENAI_API_KEY: 'sk-test' },
    // A model that it does not know is given no tool for patches; a shell is what it writes with.
    write: {
      tool: '^exec_command$',
      input: (path, content) => ({ cmd: `printf '%s' '${content}' > '${path}'` }),
    },
    setup: ['--user'],
    lists: /^waymark .* enabled /m,
    first: [{ tool: '^exec_command$', input: { cmd: 'sleep 5' } }],
  },
  {
    id: 'gemini',
    program: '@google/gemini-cli/bundle/gemini.js',
    words: (prompt) => ['-m', 'gemini-2.5-pro', '--approval-mode', 'yolo', '-p', prompt],
    environment: {
      GEMINI_API_KEY: 'k',
      GOOGLE_GEMINI_BASE_URL: '{model}',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
    files: {
      '.gemini/settings.json':
        '{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false}}\n',
    },
    write: { tool: '^write_file$', input: (file_path, content) => ({ file_path, content }) },
    setup: [],
    lists: /✓ waymark: .* - Connected/,
    below: ['--user'],
  },
  {
    id: 'opencode',
    program: `opencode-linux-${architecture}/bin/opencode`,
    words: (prompt) => ['run', '--model', 'local/a-model', prompt],
    environment: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      MODEL: '{model}/v1',
    },
    files: {
      '.config/opencode/opencode.json':
        '{"provider":{"local":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"{env:MODEL}","apiKey":"k"},"models":{"a-model":{"name":"a"}}}}}\n',
    },
    write: { tool: '^write$', input: (filePath, content) => ({ filePath, content }) },
    setup: [],
    lists: /✓ waymark .*connected/,
    installs: ['.config/opencode', '.opencode', 'project/.opencode'],
  },
  {
    id: 'copilot',
    program: `@github/copilot-linux-${architecture}/copilot`,
    words: (prompt) => ['-p', prompt, '--allow-all-tools', '--no-color'],
    environment: {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: '{model}/v1',
      COPILOT_MODEL: 'a-model',
      COPILOT_ALLOW_ALL: 'true',
      COPILOT_AUTO_UPDATE: 'false',
    },
    write: { tool: '^create$', input: (path, file_text) => ({ path, file_text }) },
    setup: [],
    lists: /^ +waymark \(local\)/m,
  },
]

/** Why a client cannot be tried here; null where it can. */
export function whyNot({ id, program }: RealClient): string | null {
  if (process.platform !== 'linux') return 'a network of its own is made on Linux only'
  if (!existsSync(join(modules, program))) return `${id} is not here: npm run clients fetches it`
  return hasNetworkOfItsOwn() ? null : 'this machine gives no process a network of its own'
}

let isolates: boolean | undefined
function hasNetworkOfItsOwn(): boolean {
  isolates ??= spawnSync('unshare', ['-rn', 'sh', '-c', 'ip link set lo up']).status === 0
  return isolates
}

export interface Step {
  /** A regular expression for the name of the tool, as this client offers it. */
  readonly tool: string
  readonly input: object
}

export interface Talk {
  readonly code: number | null
  readonly out: string
  readonly error: string
  /** Each request to the model: the tools that were offered, and which one the model called. */
  readonly asked: readonly {
    readonly path: string
    readonly tools?: readonly string[]
    readonly called?: string | null
    /** The sentences of Waymark's hooks that stand in it. */
    readonly told?: readonly string[]
  }[]
}

/** Runs the client in a network of its own, where only the scripted model is. */
export function talk(
  client: RealClient,
  {
    folder,
    environment,
    script = [],
    words = client.words('Do the next step.'),
  }: {
    readonly folder: string
    readonly environment: Variables
    readonly script?: readonly Step[]
    /** Another command than the one for a prompt. */
    readonly words?: readonly string[]
  },
): Talk {
  const isScript = client.program.endsWith('.js')
  const path = join(modules, client.program)
  const request = {
    script,
    program: isScript ? process.execPath : path,
    words: [...(isScript ? [path] : []), ...words],
    folder,
    environment: { ...environment, ...client.environment },
    timeout: 90_000,
  }
  const alone = ['-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', process.execPath]
  const harness = join(import.meta.dirname, 'with-model.mjs')
  const { stdout, stderr } = spawnSync('unshare', [...alone, harness, JSON.stringify(request)], {
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
  if (stdout === '') throw new Error(`The client could not be run: ${stderr}`)
  return JSON.parse(stdout)
}

/** The programs on the path, as a global installation puts them there, with the Node that these tests run on. */
export function installed(home: string, path = ''): Variables {
  const folder = join(home, 'bin')
  mkdirSync(folder)
  for (const [name, file] of Object.entries(programs)) symlinkSync(join(root, file), join(folder, name))
  return { PATH: [folder, dirname(process.execPath), path].join(delimiter) }
}

/** Puts what the client finds in a home: its own settings, and packages that it would ask the registry for. */
export function prepareHome(
  { home, folder }: { readonly home: string; readonly folder: string },
  { id, files = {}, installs = [] }: RealClient,
): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text.replaceAll('{folder}', folder))
  }
  for (const path of installs) {
    mkdirSync(join(home, path), { recursive: true })
    for (const name of ['node_modules', 'package.json', 'package-lock.json'])
      symlinkSync(join(fetched, id, name), join(home, path, name))
  }
}
