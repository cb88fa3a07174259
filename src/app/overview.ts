import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { detectClients } from '../clients/setup/detect.ts'
import { Disk } from '../clients/setup/disk.ts'
import { hasServerEntry } from '../clients/setup/health.ts'
import { readRecentCommits } from '../git/agent-commits.ts'
import { listTrees, uncommittedLossOf } from '../git/linked-trees.ts'
import { gitEnvironment } from '../git/process.ts'
import { formatCount, joinNames } from '../kernel/text.ts'
import { blocks, pairs, section } from '../surfaces/cli/render/parts.ts'
import { formatAge } from '../surfaces/cli/render/text.ts'
import type { RenderContext } from '../surfaces/cli/render/view.ts'
import { isJsonWanted, print, printJson, processTerminal } from '../surfaces/cli/terminal.ts'
import { namesInWords } from '../track/domain/tree-losses.ts'
import { commandLine } from './command-line.ts'
import { connectedPlace } from './remote/remote-project-location.ts'
import { type Environment, firstSetVariable } from './settings/environment.ts'
import { enclosingTree, projectFolder, rootWithoutGit, unusableFolder } from './settings/project-location.ts'
import { setupContextOf } from './setup/read-setup-context.ts'
import { firstPrompt } from './setup/setup.ts'

const generalOptions = {
  json: { type: 'boolean' },
  format: { type: 'string' },
  project: { type: 'string' },
} as const

/** `waymark` without a command: the status of a project, or of a repository without one. Writes nothing. */
export async function showOverview(words: readonly string[]): Promise<void> {
  const environment = process.env
  const { project } = parseArgs({ args: [...words], options: generalOptions }).values
  if (isProject(project, environment)) {
    process.exitCode = await commandLine(['status', ...words])
    return
  }
  const top = repositoryOf(project, environment)
  const isJson = isJsonWanted(words, environment['WAYMARK_FORMAT'])
  if (top === null) {
    const folder = project ?? process.cwd()
    if (isJson) return printJson({ repository: null, next: 'waymark demo' })
    return print(
      `${folder} is in no git repository. Waymark can measure it by checksums: waymark init sets up your agents.\nIn a git repository it also knows branches and commits. Watch a recorded day: waymark demo\n`,
    )
  }
  const overview = await readOverview(top, environment)
  if (isJson) return printJson(overview)
  const terminal = processTerminal()
  terminal.write(`${overviewText(overview, { ...terminal, now: Date.now() })}\n`)
}

/** Whether there is a local record, or the project is at a server. */
function isProject(project: string | undefined, environment: Environment): boolean {
  if (firstSetVariable(environment, ['WAYMARK_DATABASE', 'TASKMAN_DB_NAME']) !== undefined) return true
  const workingFolder = process.cwd()
  if (existsSync(join(rootWithoutGit({ flag: project, environment, workingFolder }), '.waymark'))) return true
  return connectedPlace({ project, environment, workingFolder }) !== null
}

function repositoryOf(project: string | undefined, environment: Environment): string | null {
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const request = { flag: project, environment, workingFolder: process.cwd() }
  const folder = projectFolder(request, (from) => enclosingTree(from, home))
  return unusableFolder(folder, home) ? null : enclosingTree(folder, home)
}

interface Overview {
  readonly repository: string
  readonly uncommitted: { readonly total: number | null; readonly first: readonly string[] }
  readonly recent_commits: number
  /** Newest first. */
  readonly agent_commits: readonly {
    readonly agent: string
    readonly subject: string
    readonly committed_at: string
  }[]
  readonly work_trees: readonly { readonly path: string; readonly branch: string | null }[]
  readonly clients: readonly string[]
  /** Those of them that have Waymark here. */
  readonly set_up: readonly string[]
  readonly next: string
}

async function readOverview(top: string, environment: Environment): Promise<Overview> {
  const quiet = gitEnvironment(environment)
  const [uncommitted, recent, trees] = await Promise.all([
    uncommittedLossOf(top, quiet),
    readRecentCommits(top, quiet),
    listTrees(top, quiet),
  ])
  const context = setupContextOf(environment, top)
  const { exists, read } = new Disk()
  const clients = detectClients(context, exists).map(({ client }) => client)
  const setUp = clients.filter((client) => hasServerEntry(client, { context, read }))
  return {
    repository: top,
    uncommitted,
    recent_commits: recent.total,
    agent_commits: recent.byAgents.map(({ agent, subject, committedAt }) => ({
      agent,
      subject,
      committed_at: new Date(committedAt).toISOString(),
    })),
    work_trees: trees.flatMap(({ path, branch, exists }) =>
      exists && path !== top ? [{ path, branch }] : [],
    ),
    clients: clients.map(({ title }) => title),
    set_up: setUp.map(({ title }) => title),
    next: setUp.length > 0 ? 'waymark open' : clients.length > 0 ? 'waymark init' : 'waymark demo',
  }
}

const maxShown = 3

function overviewText(overview: Overview, page: RenderContext): string {
  const { repository, uncommitted, work_trees: trees, clients, set_up: setUp } = overview
  const name = page.ink('bold', basename(repository))
  const treeLines = trees
    .slice(0, maxShown)
    .map(({ path, branch }) => `${relative(repository, path)}${branch === null ? '' : ` (${branch})`}`)
  return blocks(
    setUp.length > 0
      ? `${name} is set up for ${joinNames(setUp)}. Nothing is recorded yet. Git shows:`
      : `${name} has no Waymark project yet. Git shows:`,
    pairs(
      [
        ['uncommitted', uncommittedText(uncommitted)],
        ['agent commits', agentCommitsText(overview, page)],
        ['work trees', [...treeLines, moreText(trees.length)].filter(Boolean).join('\n')],
        ['clients found', clients.length === 0 ? 'none on this machine' : joinNames(clients)],
      ],
      page,
    ),
    section('Next', nextStep(overview), page),
  )
}

function nextStep({ set_up: setUp, clients }: Overview): string {
  if (setUp.length > 0)
    return `  Say to your agent: ${firstPrompt}\n  waymark open   Watch it in the dashboard.`
  if (clients.length > 0)
    return '  waymark init   Set up these clients. Shows every change, and asks before it writes.'
  return [
    '  waymark demo                Play a recorded day, to see what Waymark does.',
    '  waymark init                Set up the program that your agent runs in, such as Claude Code.',
    '  waymark task add "<title>"  Or plan your own work.',
  ].join('\n')
}

function uncommittedText(uncommitted: Overview['uncommitted']): string {
  const { total } = uncommitted
  if (total === 0) return 'no changes'
  if (total === null) return `cannot be seen: ${uncommitted.first.join(', ')}`
  return `${formatCount(total, 'file')}: ${namesInWords(uncommitted)}`
}

function agentCommitsText({ agent_commits: commits, recent_commits: total }: Overview, page: RenderContext) {
  if (total === 0) return 'no commit yet'
  if (commits.length === 0)
    return total === 1
      ? 'none: the one commit names no agent'
      : `none of the last ${total} commits names an agent`
  const lines = commits
    .slice(0, maxShown)
    .map(
      ({ agent, subject, committed_at }) =>
        `${agent}: ${subject.slice(0, 72)} (${formatAge(committed_at, page.now)})`,
    )
  return [`${commits.length} of the last ${formatCount(total, 'commit')}`, ...lines, moreText(commits.length)]
    .filter(Boolean)
    .join('\n')
}

function moreText(total: number): string {
  return total > maxShown ? `and ${total - maxShown} more` : ''
}
