import type { CaptureSessionId } from '../../kernel/id.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { CandidateEvidence } from '../../track/domain/hook-evidence.ts'
import { type Attempt, treeOf } from '../../track/domain/task.ts'
import type { Coverage } from '../domain/hook-event.ts'
import type { HookCommandWindow, HookEdit, Turn } from '../domain/session.ts'
import {
  countLost,
  coverageOf,
  type LocatedHookEvent,
  seenCommands,
  seenEdits,
} from '../domain/turns-from-hook-events.ts'
import type { TurnLink } from '../ports/capture-reads.ts'

/** A turn with its hook events so far, for the attribution of others. */
export interface FreshTurn {
  readonly turn: Turn
  readonly hookEvents: readonly LocatedHookEvent[]
}

/** The hook evidence of a work tree, by the ids of turns and attempts. */
export interface WorkTreeEvidence {
  readonly turns: ReadonlyMap<string, Turn>
  readonly seen: ReadonlyMap<string, CandidateEvidence>
  /** The turns and attempts above each, of the same session. */
  readonly above: ReadonlyMap<string, readonly string[]>
}

export interface EvidenceQuery {
  /** As `treeOf` names it. */
  readonly tree: string
  readonly since: number
  readonly attempts: readonly Attempt[]
  /** Turns that are not recorded yet: they replace the recorded ones. */
  readonly fresh?: readonly FreshTurn[]
  readonly links?: readonly TurnLink[]
}

/** Reads the hook evidence of a work tree; null if nothing was captured there. */
export async function readHookEvidence(
  { capture }: Pick<Reads, 'capture'>,
  { tree, since, attempts, fresh = [], links: freshLinks = [] }: EvidenceQuery,
): Promise<WorkTreeEvidence | null> {
  const recorded = await capture.turnsInTree(tree, since)
  const freshIds = new Set(fresh.map(({ turn }) => turn.id))
  const lines = recorded.filter(({ turn }) => !freshIds.has(turn.id))
  const inTree = fresh.filter(
    ({ turn }) =>
      (turn.snapshot === null ? turn.top : treeOf(turn.snapshot)) === tree &&
      (turn.closedAt === null || turn.closedAt >= since),
  )
  if (lines.length + inTree.length === 0) return null
  const openIds = lines.filter(({ turn }) => turn.status === 'open').map(({ turn }) => turn.id)
  const closedIds = lines.filter(({ turn }) => turn.status !== 'open').map(({ turn }) => turn.id)
  const [hookEvents, edits, commands, links] = await Promise.all([
    capture.hookEvents(openIds),
    capture.edits(closedIds),
    capture.commands(closedIds),
    capture.linksOf(attempts.map(({ id }) => id)),
  ])
  const evidence: TurnHookEvidence[] = [
    ...lines.map(({ turn, coverage, lost }): TurnHookEvidence => {
      if (turn.status === 'open') return evidenceSoFar(turn, hookEvents.get(turn.id) ?? [])
      const isComplete = lost === 0 && coverage !== null && isFull(coverage)
      return {
        turn,
        isComplete,
        edits: edits.get(turn.id) ?? [],
        windows: commands.get(turn.id) ?? [],
      }
    }),
    ...inTree.map(({ turn, hookEvents: own }) => evidenceSoFar(turn, own)),
  ]
  return combine(evidence, attempts, [...links, ...freshLinks])
}

interface TurnHookEvidence {
  readonly turn: Turn
  readonly isComplete: boolean
  readonly edits: readonly HookEdit[]
  readonly windows: readonly HookCommandWindow[]
}

function evidenceSoFar(turn: Turn, hookEvents: readonly LocatedHookEvent[]): TurnHookEvidence {
  return {
    turn,
    isComplete: countLost(hookEvents) === 0 && isFull(coverageOf(hookEvents)),
    edits: seenEdits(hookEvents, turn.top),
    windows: seenCommands(hookEvents, turn.top),
  }
}

function isFull({ edits, failures, subagents }: Coverage): boolean {
  return edits && failures && subagents
}

/** Evidence of an agent while its attempt was open is evidence of the attempt. */
function combine(
  evidence: readonly TurnHookEvidence[],
  attempts: readonly Attempt[],
  links: readonly TurnLink[],
): WorkTreeEvidence {
  const byAttempt = new Map(links.map((link) => [link.attemptId, link]))
  const linked = attempts.flatMap((attempt): readonly LinkedTurns[] => {
    const link = byAttempt.get(attempt.id) ?? assumedLink(attempt, evidence)
    if (link === null) return []
    return [
      {
        attempt,
        link,
        turns: evidence.filter(({ turn }) => isAgents(turn, link) && hasOverlap(turn, attempt)),
      },
    ]
  })
  const seen = new Map<string, CandidateEvidence>()
  const above = new Map<string, readonly string[]>()
  for (const { attempt, link, turns } of linked) {
    const during = { from: attempt.openedAt, to: attempt.closedAt ?? Number.MAX_SAFE_INTEGER }
    seen.set(attempt.id, {
      isTurn: false,
      isComplete: link.link !== 'assumed' && turns.length > 0 && turns.every(({ isComplete }) => isComplete),
      edits: turns.flatMap(({ edits }) =>
        edits.filter(({ reportedAt }) => reportedAt >= during.from && reportedAt <= during.to),
      ),
      windows: turns.flatMap(({ windows }) =>
        windows
          .filter(({ from, to }) => from <= during.to && (to === null || to >= during.from))
          .map(({ from, to }) => ({ from: Math.max(from, during.from), to })),
      ),
    })
    const parents = turns.flatMap(({ turn }) => (turn.parentId === null ? [] : [turn.parentId]))
    above.set(attempt.id, [...new Set([...turns.map(({ turn }) => turn.id), ...parents])])
  }
  for (const { turn, isComplete, edits, windows } of evidence) {
    const own = linked.filter(({ turns }) => turns.some((one) => one.turn.id === turn.id))
    const isAttempts = (at: number): boolean =>
      own.some(({ attempt }) => at >= attempt.openedAt && at <= (attempt.closedAt ?? Number.MAX_SAFE_INTEGER))
    seen.set(turn.id, {
      isTurn: true,
      isComplete,
      edits: edits.filter(({ reportedAt }) => !isAttempts(reportedAt)),
      windows: windows.filter(({ from }) => !isAttempts(from)),
    })
    // A subagent works for the open attempt of its session's main agent.
    const parents = linked
      .filter(({ link, attempt }) => isMainOf(turn, link) && isStartedDuring(turn, attempt))
      .toSorted((a, b) => b.attempt.openedAt - a.attempt.openedAt)
      .slice(0, 1)
      .map(({ attempt }) => attempt.id as string)
    above.set(turn.id, [...parents, ...(turn.parentId === null ? [] : [turn.parentId])])
  }
  return { turns: new Map(evidence.map(({ turn }) => [turn.id, turn])), seen, above }
}

interface LinkedTurns {
  readonly attempt: Attempt
  readonly link: TurnLink
  readonly turns: readonly TurnHookEvidence[]
}

function isAgents(turn: Turn, { sessionId, agentId }: TurnLink): boolean {
  return turn.sessionId === sessionId && (turn.agent?.id ?? null) === agentId
}

function isMainOf({ sessionId, agent }: Turn, link: TurnLink): boolean {
  return agent !== null && link.sessionId === sessionId && link.agentId === null
}

function hasOverlap(turn: Turn, { openedAt, closedAt }: Attempt): boolean {
  return (
    turn.openedAt <= (closedAt ?? Number.MAX_SAFE_INTEGER) &&
    (turn.closedAt === null || turn.closedAt >= openedAt)
  )
}

function isStartedDuring(turn: Turn, { openedAt, closedAt }: Attempt): boolean {
  return turn.openedAt >= openedAt && turn.openedAt <= (closedAt ?? Number.MAX_SAFE_INTEGER)
}

/** The only session of that client that was at work when the attempt began. */
function assumedLink(attempt: Attempt, evidence: readonly TurnHookEvidence[]): TurnLink | null {
  const present = evidence.filter(
    ({ turn }) =>
      isClient(attempt.actor.name, turn.client) &&
      turn.openedAt <= attempt.openedAt &&
      (turn.closedAt === null || turn.closedAt >= attempt.openedAt),
  )
  const sessions = new Set<CaptureSessionId>(present.map(({ turn }) => turn.sessionId))
  const [only, ...more] = sessions
  if (only === undefined || more.length > 0) return null
  return { attemptId: attempt.id, sessionId: only, turnId: null, agentId: null, link: 'assumed' }
}

/** Some clients add a word to their name in hooks or in their own messages. */
function isClient(name: string, client: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z]+/g, '-')
  const [one, other] = [plain(name), plain(client)]
  return one.length > 0 && (one.startsWith(other) || other.startsWith(one))
}

/** The name of a turn's agent in reports. */
export function agentOfTurn({ client, agent }: Pick<Turn, 'client' | 'agent'>): string {
  return agent === null ? client : `${client}, ${agent.type ?? 'subagent'}`
}
