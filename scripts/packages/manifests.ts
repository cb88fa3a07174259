import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { claude } from '../../src/clients/claude/setup.ts'
import { codex } from '../../src/clients/codex/setup.ts'
import { cursor } from '../../src/clients/cursor/setup.ts'
import { gemini } from '../../src/clients/gemini/setup.ts'
import type { Client } from '../../src/clients/setup/client.ts'
import { editFile } from '../../src/clients/setup/edit/edit-file.ts'
import { hookEdits } from '../../src/clients/setup/plan-setup.ts'
import { catalog } from '../../src/kernel/operations/catalog.ts'

/** What package.json says of Waymark, which every manifest repeats. */
export interface Package {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly author: string
  readonly keywords: readonly string[]
  readonly engines: { readonly node: string }
  // Missing until they exist, and with them what names them.
  readonly homepage?: string
  readonly repository?: { readonly url: string }
  /** Its name in the registry of MCP servers. */
  readonly mcpName?: string
}

const root = join(import.meta.dirname, '..', '..')

export function readPackage(): Package {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

/** The files that are committed, by path from the top: what clients, registries and setup read of Waymark. */
export function manifests(about: Package): ReadonlyMap<string, string> {
  const made = new Map<string, string>(
    Object.entries({
      '.claude-plugin/marketplace.json': claudeMarketplace(about),
      'plugin/.claude-plugin/plugin.json': claudePlugin(about),
      'plugin/.codex-plugin/plugin.json': codexPlugin(about),
      'plugin/.cursor-plugin/plugin.json': cursorPlugin(about),
      'plugin/portable/plugin.json': portablePlugin(about),
      'plugin/.mcp.json': { mcpServers: { waymark: entry } },
      'plugin/gemini/gemini-extension.json': geminiExtension(about),
      'plugin/hooks/hooks.json': { description: hooksDo, ...hooksOf(claude) },
      'plugin/cursor/hooks.json': hooksOf(cursor),
      'plugin/codex/hooks.json': hooksOf(codex),
      'plugin/gemini/hooks/hooks.json': hooksOf(gemini),
      'mcpb/manifest.json': mcpb(about),
      ...(about.mcpName !== undefined && { 'server.json': registryServer(about) }),
      'src/clients/setup/tools.json': catalog.flatMap(({ tool }) => tool ?? []),
    }).map(([path, manifest]) => [path, `${JSON.stringify(manifest, null, 2)}\n`] as const),
  )
  const text = readFileSync(join(root, 'plugin', skill), 'utf8')
  return made.set(`plugin/gemini/${skill}`, text).set(`plugin/portable/${skill}`, text)
}

// An extension of Gemini has its hooks where a plugin of Claude Code has them, and Codex takes a portable plugin before its own:
// each is a folder of its own.
const skill = 'skills/waymark/SKILL.md'

const hooksDo =
  'Keeps an agent to the state of its run and the scope of its task, tells it where the work stands, and records sessions where that is switched on.'

/** The hooks that setup would write for a client into a file of the project, as that file. */
function hooksOf(client: Client): object {
  const program = { node: 'node', bin: 'waymark', capture: 'waymark-capture', version: '', isNamed: true }
  const context = { platform: 'linux', home: '/home', environment: {}, folder: '/project', program }
  const file = 'hooks.json'
  const edits = hookEdits(client, { context, file, method: 'name', guarded: false, capture: true })
  const { text } = editFile({ text: null, changes: [] }, edits, { owner: client.id, force: false })
  return JSON.parse(text ?? '')
}

const entry = { command: 'waymark', args: ['mcp'] }

/** What all plugins say of themselves. */
function identity({ name, version, description, license, author, homepage, keywords }: Package) {
  return {
    name,
    version,
    description,
    author: { name: author },
    ...(homepage && { homepage }),
    license,
    keywords,
  }
}

// Codex and Cursor read a marketplace of Claude's as well.
function claudeMarketplace({ name, description, author }: Package) {
  return { name, description, owner: { name: author }, plugins: [{ name, source: './plugin', description }] }
}

function claudePlugin(about: Package) {
  const repository = addressOf(about)
  return { ...identity(about), ...(repository && { repository }), icon: './icon.png' }
}

function codexPlugin(about: Package) {
  return {
    ...identity(about),
    skills: './skills/',
    mcpServers: './.mcp.json',
    hooks: './codex/hooks.json',
    interface: {
      displayName: 'Waymark',
      shortDescription: about.description,
      developerName: about.author,
      category: 'Developer Tools',
      logo: './icon.png',
    },
  }
}

function cursorPlugin(about: Package) {
  return {
    ...identity(about),
    displayName: 'Waymark',
    logo: 'icon.png',
    skills: './skills/',
    mcpServers: './.mcp.json',
    hooks: './cursor/hooks.json',
  }
}

// Skills only: a portable plugin's server starts in the plugin's folder, and nothing would tell it the project.
function portablePlugin(about: Package) {
  return { $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', ...identity(about) }
}

function geminiExtension({ name, version, description }: Package) {
  return {
    name,
    version,
    description,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Gemini puts the workspace there.
    mcpServers: { waymark: { ...entry, cwd: '${workspacePath}' } },
    contextFileName: skill,
  }
}

function mcpb({ name, version, description, license, author, homepage, keywords, engines }: Package) {
  return {
    manifest_version: '0.4',
    name,
    display_name: 'Waymark',
    version,
    description,
    author: { name: author },
    ...(homepage && { homepage }),
    icon: 'icon.png',
    server: {
      type: 'node',
      entry_point: 'bin/waymark.js',
      mcp_config: {
        command: 'node',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the client puts the bundle's folder and the answer there.
        args: ['${__dirname}/bin/waymark.js', 'mcp', '--project', '${user_config.project}'],
      },
    },
    user_config: {
      project: {
        type: 'directory',
        title: 'Project',
        description: 'The folder that the agent works in: a git repository, as a rule.',
        required: true,
      },
    },
    tools_generated: true,
    keywords,
    license,
    compatibility: { platforms: ['darwin', 'linux', 'win32'], runtimes: { node: engines.node } },
  }
}

function registryServer(about: Package) {
  const { name, version, description, homepage, mcpName } = about
  const url = addressOf(about)
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    title: 'Waymark',
    description,
    version,
    ...(homepage && { websiteUrl: homepage }),
    ...(url && { repository: { url, source: 'github' } }),
    packages: [
      {
        registryType: 'npm',
        identifier: name,
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'mcp' }],
      },
    ],
  }
}

function addressOf({ repository }: Package): string | undefined {
  return repository?.url.replace(/^git\+|\.git$/g, '')
}
