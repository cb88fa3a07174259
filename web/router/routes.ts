import type { ComponentType } from 'preact'
import { View as Inbox } from '../views/inbox/view.tsx'
import type { Params } from './match.ts'

export interface ViewProps {
  readonly params: Params
}

export type RouteView = ComponentType<ViewProps>

export interface Route {
  readonly name: string
  /** Inside the project. A part `:id` is handed to the view, `:tab?` may be absent. */
  readonly path: string
  /** In the crumbs, the window's title and the palette. */
  readonly title: string
  /** The route whose entry in the sidebar is lit, where it is not its own. */
  readonly under?: string
  /** Comes with the page. */
  readonly view?: RouteView
  /** Comes when it is opened. */
  readonly load?: () => Promise<{ readonly View: RouteView }>
}

/** Every view: a folder of `views/` and a line here. The first is home and comes with the page; the rest come when opened. */
export const routes: readonly Route[] = [
  { name: 'inbox', path: '/', title: 'Inbox', view: Inbox },
  { name: 'board', path: '/board', title: 'Board', load: () => import('../views/board/view.tsx') },
  {
    name: 'missions',
    path: '/missions',
    title: 'Missions',
    load: () => import('../views/missions/view.tsx'),
  },
  {
    name: 'mission',
    path: '/missions/:id/:tab?',
    title: 'Mission',
    under: 'missions',
    load: () => import('../views/mission/view.tsx'),
  },
  {
    name: 'task',
    path: '/tasks/:id/:tab?',
    title: 'Task',
    under: 'missions',
    load: () => import('../views/task/view.tsx'),
  },
  {
    name: 'review',
    path: '/review/:kind?/:id?',
    title: 'Review',
    under: 'inbox',
    load: () => import('../views/review/view.tsx'),
  },
  { name: 'plan', path: '/plan', title: 'Plan', load: () => import('../views/plan/view.tsx') },
  {
    name: 'dependencies',
    path: '/dependencies',
    title: 'Dependencies',
    under: 'plan',
    load: () => import('../views/dependencies/view.tsx'),
  },
  {
    name: 'processes',
    path: '/processes/:name?',
    title: 'Processes',
    load: () => import('../views/processes/view.tsx'),
  },
  {
    name: 'run',
    path: '/runs/:id',
    title: 'Run',
    under: 'processes',
    load: () => import('../views/run/view.tsx'),
  },
  { name: 'history', path: '/history', title: 'History', load: () => import('../views/history/view.tsx') },
  {
    name: 'log',
    path: '/log',
    title: 'Log',
    under: 'history',
    load: () => import('../views/log/view.tsx'),
  },
  {
    name: 'lines',
    path: '/lines',
    title: 'Line history',
    under: 'history',
    load: () => import('../views/lines/view.tsx'),
  },
  {
    name: 'statistics',
    path: '/statistics',
    title: 'Statistics',
    load: () => import('../views/statistics/view.tsx'),
  },
  { name: 'agents', path: '/agents', title: 'Agents', load: () => import('../views/agents/view.tsx') },
  {
    name: 'projects',
    path: '/projects',
    title: 'Projects',
    load: () => import('../views/projects/view.tsx'),
  },
  {
    name: 'settings',
    path: '/settings/:tab?',
    title: 'Settings',
    load: () => import('../views/settings/view.tsx'),
  },
  {
    name: 'start',
    path: '/start',
    title: 'First steps',
    load: () => import('../views/first-run/view.tsx'),
  },
]
