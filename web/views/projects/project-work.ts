import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { ApiFailure } from '../../../src/surfaces/http/client/client.ts'
import type { ProjectStatus } from '../../api/entities.ts'
import { failureOf, readSession, type SessionProject } from '../../api/session.ts'
import { base } from '../../router/location.ts'

/** A project of the server with what goes on in it: `GET /api/projects/work`. */
export interface ProjectActivity extends SessionProject {
  /** Null where its record cannot be read. */
  readonly work: Pick<
    ProjectStatus,
    'missions_total' | 'running' | 'running_total' | 'waiting' | 'waiting_since'
  > | null
  /** Why it cannot. */
  readonly failure: string | null
}

interface Projects {
  /** Null until they were read. */
  readonly projects: ReadonlySignal<readonly ProjectActivity[] | null>
  readonly failure: ReadonlySignal<unknown>
}

/** How many projects, those where most goes on, are followed log entry by log entry. The others are read again now and then. */
const followed = 20
/** Milliseconds. */
const nowAndThen = 5_000
const together = 150

/** Every project that one may see, as long as the component lives, those that wait for people first. */
export function useProjectsAtWork(): Projects {
  const started = useMemo(startProjects, [])
  useEffect(() => started.stop, [started])
  return started
}

function startProjects(): Projects & { readonly stop: () => void } {
  const projects = signal<readonly ProjectActivity[] | null>(null)
  const failure = signal<unknown>(null)
  const feeds = new Map<string, WebSocket>()
  const ended = new AbortController()
  let waiting = 0

  const read = async () => {
    waiting = 0
    try {
      const next = (await readProjects(ended.signal)).toSorted(compareUrgency)
      if (JSON.stringify(next) !== JSON.stringify(projects.peek())) projects.value = next
      failure.value = null
      follow(next.slice(0, followed).map(({ key }) => key))
    } catch (error) {
      if (!ended.signal.aborted) failure.value = error
    }
  }
  const soon = () => {
    waiting ||= setTimeout(() => void read(), together)
  }
  const follow = (keys: readonly string[]) => {
    if (ended.signal.aborted) return
    for (const [key, feed] of feeds) if (!keys.includes(key)) feed.close()
    for (const key of keys) {
      if (feeds.has(key)) continue
      const feed = new WebSocket(`${location.origin.replace('http', 'ws')}/p/${encodeURIComponent(key)}/ws`)
      feeds.set(key, feed)
      feed.onmessage = ({ data }) => isLogFrame(data) && soon()
      feed.onclose = () => feeds.delete(key)
    }
  }
  const timer = window.setInterval(() => document.hidden || soon(), nowAndThen)
  void read()
  return {
    projects,
    failure,
    stop: () => {
      ended.abort()
      clearTimeout(waiting)
      clearInterval(timer)
      for (const feed of feeds.values()) feed.close()
    },
  }
}

/** Whether a message is a log entry, not the greeting. */
function isLogFrame(data: unknown): boolean {
  const message: unknown = typeof data === 'string' ? JSON.parse(data) : null
  return typeof message === 'object' && message !== null && 'n' in message
}

async function readProjects(until: AbortSignal): Promise<readonly ProjectActivity[]> {
  const response = await fetch(`${base.peek()}/api/projects/work`, { signal: until }).catch(
    (error: unknown) => {
      throw new ApiFailure(0, {}, error)
    },
  )
  if (response.status === 401) await readSession()
  if (!response.ok) throw await failureOf(response)
  const { projects } = (await response.json()) as { readonly projects: readonly ProjectActivity[] } // our own server's
  return projects
}

/** What waits longest first, then where agents work, then by name. */
function compareUrgency(one: ProjectActivity, other: ProjectActivity): number {
  return (
    waitingSince(one) - waitingSince(other) ||
    (other.work?.running_total ?? 0) - (one.work?.running_total ?? 0) ||
    one.name.localeCompare(other.name)
  )
}

const never = Number.MAX_SAFE_INTEGER

function waitingSince({ work }: ProjectActivity): number {
  return work?.waiting_since ? Date.parse(work.waiting_since) : never
}
