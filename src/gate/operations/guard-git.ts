import type { GuardWitness, SnapshotRef, UncommittedFile } from '../../git/ports/work-tree.ts'
import { displayName } from '../../kernel/actor.ts'
import { messageOf } from '../../kernel/failure.ts'
import type { AttemptId } from '../../kernel/id.ts'
import { sessionIdleMs } from '../../sessions/domain/turns-from-hook-events.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isDeclared, judgePath, parseScope } from '../../track/domain/scope/scope.ts'
import { type Attempt, isStale, type SnapshotLocation, treeOf } from '../../track/domain/task.ts'
import { type GitAliases, type GitCommand, gitCommands } from '../domain/git-guard/git-commands.ts'
import type { GuardedCommand } from '../domain/git-guard/guarded-command.ts'
import {
  decideGuard,
  type GuardFile,
  type GuardFinding,
  type GuardTree,
  judgeGitCommand,
} from '../domain/git-guard/judge-git.ts'
import type { HookDecision } from '../domain/hook/tool-use.ts'

/** The caller of a command, as its client's hook names it. */
export interface GuardCaller {
  readonly client: string
  readonly session: string | null
  /** Whether a person can be asked there. */
  readonly canAsk: boolean
}

/** The parts that the guard needs. */
export interface GuardParts {
  /** The agents at work: from the record, or from a server. */
  readonly agents: () => Promise<readonly AgentAtWork[]>
  readonly witness: GuardWitness
  readonly now: () => number
  readonly snapshotName: () => string
  /** Removes what a snapshot that took too long has written. */
  readonly discard: (name: string) => void
  readonly resolve: (folder: string, path: string) => string
  /** The top of the work tree that contains a folder; null for none. */
  readonly topOf: (folder: string) => string | null
  /** From the top to the folder, links resolved: `''`, or ending with `/`. */
  readonly prefixOf: (folder: string, top: string) => string
  readonly exists: (path: string) => boolean
  readonly aliases: GitAliases
  /** The setting `guard_git`. */
  readonly mode: string
}

export interface GitGuardResult {
  readonly decision: HookDecision | null
  /** What to record: one entry for each work tree. */
  readonly guarded: readonly Omit<GuardedCommand, 'id'>[]
  /** Why a snapshot is missing where no one else is concerned. */
  readonly missing: string | null
}

/** An agent at work in a work tree: a session, or an attempt without one. */
export interface AgentAtWork {
  readonly name: string
  /** The top of its work tree. */
  readonly tree: string
  readonly isOwn: boolean
  /** The states that it began with. */
  readonly starts: readonly SnapshotLocation[]
  readonly areas: readonly string[]
  /** The paths that its tools reported. */
  readonly reported: ReadonlySet<string>
}

/** In milliseconds. */
const snapshotLimit = 1000
const maxTrees = 3
const maxFiles = 200

/** Guards a shell command: keeps a snapshot, and decides whether it concerns the work of others. */
export async function guardGit(
  script: string,
  folder: string,
  caller: GuardCaller,
  parts: GuardParts,
): Promise<GitGuardResult> {
  const { mode, topOf } = parts
  const nothing: GitGuardResult = { decision: null, guarded: [], missing: null }
  if (mode === 'off') return nothing
  const commands = gitCommands(script, parts.aliases)
  if (commands.length === 0) return nothing
  const placed = commands.flatMap((command) => {
    const place = folderOf(command, folder, parts)
    const top = place === null ? null : topOf(place)
    return place === null || top === null ? [] : [{ command, folder: place, top }]
  })
  const byTop = [...Map.groupBy(placed, ({ top }) => top)].slice(0, maxTrees)
  if (byTop.length === 0) return nothing
  // The record is read while git runs.
  const pending = parts.agents()
  const trees = await Promise.all(byTop.map(([top, inTree]) => guardTree(top, inTree, { pending, parts })))
  const findings = trees.flatMap((tree) => tree.findings)
  const missing = trees.find((tree) => tree.missing !== null)?.missing ?? null
  const decision = decideGuard(findings, { mode, canAsk: caller.canAsk, missing })
  const guarded = trees.map((tree): GitGuardResult['guarded'][number] => {
    return {
      guardedAt: parts.now(),
      top: tree.top,
      client: caller.client,
      clientSession: caller.session,
      commands: tree.commands,
      answer: tree.findings.length === 0 ? 'none' : (decision?.decision ?? 'none'),
      files: [...new Set(tree.findings.flatMap(({ files }) => files))].slice(0, maxFiles),
      agents: [...new Set(tree.findings.flatMap((finding) => finding.agents))],
      snapshot: tree.snapshot,
      missing: tree.missing,
      bytes: tree.bytes,
    }
  })
  return { decision, guarded, missing: decision === null ? missing : null }
}

function folderOf(
  { folders, effect }: GitCommand,
  start: string,
  parts: Pick<GuardParts, 'topOf' | 'resolve'>,
): string | null {
  let folder = start
  for (const next of folders) {
    if (next.includes('\0')) return null
    if (next === ':top') folder = parts.topOf(folder) ?? folder
    else folder = parts.resolve(folder, next)
  }
  if (effect.kind !== 'remove_tree') return folder
  return effect.path.includes('\0') ? null : parts.resolve(folder, effect.path)
}

interface GuardedTree {
  readonly top: string
  readonly commands: readonly string[]
  readonly findings: readonly GuardFinding[]
  readonly snapshot: SnapshotLocation | null
  readonly missing: string | null
  readonly bytes: number
}

async function guardTree(
  top: string,
  inTree: readonly { readonly command: GitCommand; readonly folder: string }[],
  { pending, parts }: { readonly pending: Promise<readonly AgentAtWork[]>; readonly parts: GuardParts },
): Promise<GuardedTree> {
  const { witness } = parts
  const before = witness.keptBytes()
  const name = parts.snapshotName()
  const [taken, agents] = await Promise.all([withinLimit(witness.snapshot({ folder: top, name })), pending])
  if ('missing' in taken) parts.discard(name)
  const snapshot = 'ref' in taken ? taken.ref : null
  const here = agents.filter(({ tree }) => tree === top)
  const files = snapshot === null ? null : await guardFiles(snapshot, here, parts)
  const others = (list: readonly AgentAtWork[]) => [
    ...new Set(list.filter(({ isOwn }) => !isOwn).map(({ name }) => name)),
  ]
  const findings = inTree.flatMap(({ command, folder }) => {
    const tree: GuardTree = {
      place: { top, prefix: parts.prefixOf(folder, top) },
      files,
      agentsHere: others(here),
      agents: others(agents),
      exists: (path) => !path.includes('\0') && parts.exists(parts.resolve(folder, path)),
    }
    return judgeGitCommand(command, tree) ?? []
  })
  return {
    top,
    commands: [...new Set(inTree.map(({ command }) => command.name))],
    findings,
    snapshot,
    missing: 'missing' in taken ? taken.missing : null,
    bytes: snapshot === null ? 0 : Math.max(0, witness.keptBytes() - before),
  }
}

/** The snapshot, or why there is none. */
async function withinLimit(
  pending: Promise<{ readonly ref: SnapshotRef }>,
): Promise<{ readonly ref: SnapshotRef } | { readonly missing: string }> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<{ readonly missing: string }>((done) => {
    timer = setTimeout(() => done({ missing: 'It took longer than a second.' }), snapshotLimit)
  })
  try {
    return await Promise.race([pending, late])
  } catch (error) {
    return { missing: messageOf(error) }
  } finally {
    clearTimeout(timer)
  }
}

/** The uncommitted files of a work tree, each with the other agents that changed it. */
async function guardFiles(
  now: SnapshotRef,
  here: readonly AgentAtWork[],
  { witness }: GuardParts,
): Promise<readonly GuardFile[] | null> {
  const files = await witness.uncommittedFiles(now)
  if (files === null) return null
  const changed = await Promise.all(
    here.map(async (agent) => {
      const touched = await Promise.all(agent.starts.map((start) => witness.touchedPaths(start, now)))
      // What a lost snapshot held is not known: everything may have changed since.
      const isUnknown = touched.includes(null)
      return { agent, isUnknown, paths: new Set(touched.flatMap((paths) => paths ?? [])) }
    }),
  )
  return files.map((file) => ({ ...file, others: othersOf(file, changed) }))
}

interface AgentChanges {
  readonly agent: AgentAtWork
  readonly paths: ReadonlySet<string>
  readonly isUnknown: boolean
}

/** The other agents that changed a file: by the reports of tools, else by time and scope. */
function othersOf({ path }: UncommittedFile, changed: readonly AgentChanges[]): readonly string[] {
  const reporters = changed.filter(({ agent }) => agent.reported.has(path))
  const foreign = reporters.filter(({ agent }) => !agent.isOwn)
  if (reporters.length > 0) return namesOf(foreign)
  const possible = changed.filter(({ paths, isUnknown }) => isUnknown || paths.has(path))
  const inScope = possible.filter(({ agent }) => isInScope(agent, path))
  if (inScope.length > 0 && inScope.every(({ agent }) => agent.isOwn)) return []
  return namesOf((inScope.length > 0 ? inScope : possible).filter(({ agent }) => !agent.isOwn))
}

function namesOf(changes: readonly AgentChanges[]): readonly string[] {
  return [...new Set(changes.map(({ agent }) => agent.name))]
}

function isInScope({ areas, starts }: AgentAtWork, path: string): boolean {
  const scope = parseScope(areas, { prefix: starts[0]?.prefix ?? '', packages: new Map() })
  return isDeclared(scope) && judgePath(scope, path) === 'in'
}

/** The agents with an open attempt or turn that is not stale. */
export async function agentsAtWork(
  reads: Reads,
  caller: GuardCaller,
  now: number,
): Promise<readonly AgentAtWork[]> {
  const { tasks, capture } = reads
  const attempts = (await tasks.openAttempts()).filter(
    (attempt) => !isStale(attempt, now) && attempt.snapshot.machineId === undefined,
  )
  const heard = (await capture.openSessions()).filter(({ lastAt }) => lastAt >= now - sessionIdleMs)
  const sessions = new Map(heard.map(({ session }) => [session.id, session]))
  const turns = (await capture.turnsBetween(now, now))
    .map(({ turn }) => turn)
    .filter(({ status, sessionId }) => status === 'open' && sessions.has(sessionId))
  const links = await capture.linksOf(attempts.map(({ id }) => id))
  const sessionOfAttempt = new Map(links.map(({ attemptId, sessionId }) => [attemptId, sessionId]))
  const turnIds = turns.map(({ id }) => id)
  const [edits, events] = [await capture.edits(turnIds), await capture.hookEvents(turnIds)]
  const isOwnSession = (id: string | undefined) =>
    caller.session !== null &&
    heard.some(({ session }) => session.id === id && session.clientSession === caller.session)
  const ofAttempts = attemptsAtWork(attempts, caller).map((agent, at) => {
    const session = sessionOfAttempt.get(attempts[at]?.id as AttemptId)
    return session === undefined
      ? { ...agent, session: null }
      : { ...agent, session, isOwn: isOwnSession(session) }
  })
  const ofTurns = turns.map((turn): AgentAtWork & { readonly session: string } => {
    const reported = [
      ...(edits.get(turn.id) ?? []).map(({ path }) => path),
      ...(events.get(turn.id) ?? []).flatMap(({ what }) =>
        what.kind === 'edit_began' || what.kind === 'edit_ended'
          ? what.edits.filter(({ top }) => top === turn.top).map(({ path }) => path)
          : [],
      ),
    ]
    const named = ofAttempts.find(({ session, tree }) => session === turn.sessionId && tree === turn.top)
    return {
      name: named?.name ?? `${turn.client} (${turn.sessionId})`,
      session: turn.sessionId,
      tree: turn.top,
      isOwn: isOwnSession(turn.sessionId),
      starts: turn.snapshot === null ? [] : [turn.snapshot],
      areas: [],
      reported: new Set(reported),
    }
  })
  return [...ofAttempts, ...ofTurns]
}

/** The open attempts of a work tree that are the caller's: of its session, or the only one there. */
export async function attemptsOfCaller(
  { capture }: Reads,
  attempts: readonly Attempt[],
  caller: GuardCaller,
): Promise<readonly Attempt[]> {
  const links = await capture.linksOf(attempts.map(({ id }) => id))
  const heard = await capture.openSessions()
  const sessionOf = new Map(links.map(({ attemptId, sessionId }) => [attemptId, sessionId]))
  return attempts.filter((attempt) => {
    const id = sessionOf.get(attempt.id)
    if (id === undefined) return isOnlyOwn(attempt, attempts, caller)
    const session = heard.find((one) => one.session.id === id)?.session
    return caller.session !== null && session?.clientSession === caller.session
  })
}

/** Agents by their attempts alone. */
export function attemptsAtWork(attempts: readonly Attempt[], caller: GuardCaller): readonly AgentAtWork[] {
  return attempts.map((attempt) => ({
    name: `${displayName(attempt)} (${attempt.taskId})`,
    tree: attempt.snapshot.top,
    isOwn: isOnlyOwn(attempt, attempts, caller),
    starts: [attempt.snapshot],
    areas: attempt.areas,
    reported: new Set<string>(),
  }))
}

/** An attempt without a session is the caller's own if it is the only one there, of the same client. */
function isOnlyOwn(
  attempt: Pick<Attempt, 'id' | 'actor' | 'snapshot'>,
  open: readonly Pick<Attempt, 'id' | 'snapshot'>[],
  { client }: GuardCaller,
): boolean {
  const isOther = ({ id, snapshot }: Pick<Attempt, 'id' | 'snapshot'>) =>
    id !== attempt.id && treeOf(snapshot) === treeOf(attempt.snapshot)
  return !open.some(isOther) && attempt.actor.name.toLowerCase().includes(client)
}
