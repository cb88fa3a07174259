import type { OperationName } from '../../src/surfaces/http/client/client.ts'

/** A command of the keyboard. The view that is shown handles it; without a handler it does nothing. */
interface Binding {
  /** The name that handlers use. */
  readonly command: string
  /** One key, or two in sequence: `g i`. The first of several is shown. Views may share a key. */
  readonly keys: readonly string[]
  readonly title: string
  /** The operation with the same title: the palette offers that one. */
  readonly operation?: OperationName
  readonly group:
    | 'Everywhere'
    | 'Go to'
    | 'Lists'
    | 'Inbox'
    | 'Review'
    | 'Plan'
    | 'Views'
    | 'Timeline and graph'
}

/** The one table of keys: read by the dispatcher, the help sheet and the palette. */
export const bindings = [
  { command: 'palette', keys: ['mod+k', '/'], title: 'Search or run a command', group: 'Everywhere' },
  { command: 'help', keys: ['?'], title: 'Keyboard shortcuts', group: 'Everywhere' },
  { command: 'glossary', keys: ['g w'], title: 'Glossary: what the words mean', group: 'Everywhere' },
  { command: 'theme', keys: ['\\'], title: 'Switch between light and dark', group: 'Everywhere' },
  { command: 'copy id', keys: ['y'], title: 'Copy the id', group: 'Everywhere' },
  { command: 'log out', keys: ['g q'], title: 'Sign out', group: 'Everywhere' },
  { command: 'close', keys: ['Escape'], title: 'Close, or clear the selection', group: 'Everywhere' },

  { command: 'go inbox', keys: ['g i'], title: 'Inbox', group: 'Go to' },
  { command: 'go board', keys: ['g b'], title: 'Board', group: 'Go to' },
  { command: 'go missions', keys: ['g m'], title: 'Missions', group: 'Go to' },
  { command: 'go plan', keys: ['g p'], title: 'Plan', group: 'Go to' },
  { command: 'go dependencies', keys: ['g d'], title: 'Dependencies', group: 'Go to' },
  { command: 'go processes', keys: ['g r'], title: 'Processes', group: 'Go to' },
  { command: 'go history', keys: ['g h'], title: 'History', group: 'Go to' },
  { command: 'go log', keys: ['g j'], title: 'Log', group: 'Go to' },
  { command: 'go lines', keys: ['g l'], title: 'Line history of a file', group: 'Go to' },
  { command: 'go statistics', keys: ['g t'], title: 'Statistics', group: 'Go to' },
  { command: 'go agents', keys: ['g a'], title: 'Agents', group: 'Go to' },
  { command: 'go projects', keys: ['g o'], title: 'Projects', group: 'Go to' },
  { command: 'go settings', keys: ['g s'], title: 'Settings', group: 'Go to' },

  { command: 'next', keys: ['j', 'ArrowDown'], title: 'Next', group: 'Lists' },
  { command: 'previous', keys: ['k', 'ArrowUp'], title: 'Previous', group: 'Lists' },
  { command: 'open', keys: ['Enter'], title: 'Open the selection', group: 'Lists' },
  { command: 'peek', keys: ['Space'], title: 'Fold, unfold or preview', group: 'Lists' },
  { command: 'left', keys: ['h', 'ArrowLeft'], title: 'Move left', group: 'Lists' },
  { command: 'right', keys: ['l', 'ArrowRight'], title: 'Move right', group: 'Lists' },
  { command: 'filter', keys: ['f'], title: 'Filter', group: 'Lists' },

  { command: 'approve', keys: ['a'], title: 'Approve', group: 'Inbox' },
  { command: 'send back', keys: ['r'], title: 'Send back', group: 'Inbox' },
  { command: 'resolve', keys: ['e'], title: 'Answer', group: 'Inbox' },
  { command: 'open diff', keys: ['d'], title: 'Review the changes', group: 'Inbox' },
  { command: 'undo', keys: ['u'], title: 'Undo, for five seconds', group: 'Inbox' },

  { command: 'next file', keys: [']'], title: 'Next file', group: 'Review' },
  { command: 'previous file', keys: ['['], title: 'Previous file', group: 'Review' },
  { command: 'next change', keys: ['.'], title: 'Next change', group: 'Review' },
  { command: 'previous change', keys: [','], title: 'Previous change', group: 'Review' },
  { command: 'next comment', keys: ['o'], title: 'Next comment', group: 'Review' },
  { command: 'previous comment', keys: ['O'], title: 'Previous comment', group: 'Review' },
  { command: 'viewed', keys: ['v'], title: 'Mark the file as viewed', group: 'Review' },
  { command: 'comment', keys: ['c'], title: 'Comment on the line', group: 'Review' },
  { command: 'comment file', keys: ['F'], title: 'Comment on the file', group: 'Review' },
  { command: 'send', keys: ['s'], title: 'Send the comments', group: 'Review' },
  { command: 'side by side', keys: ['t'], title: 'Switch to side by side or unified', group: 'Review' },
  { command: 'white space', keys: ['w'], title: 'Hide or show whitespace', group: 'Review' },
  { command: 'whose line', keys: ['W'], title: 'Show who wrote the line, and why', group: 'Review' },
  { command: 'whole file', keys: ['x'], title: 'Show the whole file or its changes', group: 'Review' },

  { command: 'add', keys: ['c'], title: 'Add a task', group: 'Plan', operation: 'taskman_task_add' },
  { command: 'add phase', keys: ['p'], title: 'Add a phase', group: 'Plan', operation: 'taskman_phase_add' },
  { command: 'rename', keys: ['F2'], title: 'Rename', group: 'Plan' },
  { command: 'move up', keys: ['alt+ArrowUp'], title: 'Move up', group: 'Plan' },
  { command: 'move down', keys: ['alt+ArrowDown'], title: 'Move down', group: 'Plan' },
  { command: 'move', keys: ['m'], title: 'Move to another column', group: 'Plan' },

  { command: 'tab 1', keys: ['1'], title: 'First tab', group: 'Views' },
  { command: 'tab 2', keys: ['2'], title: 'Second tab', group: 'Views' },
  { command: 'tab 3', keys: ['3'], title: 'Third tab', group: 'Views' },
  { command: 'tab 4', keys: ['4'], title: 'Fourth tab', group: 'Views' },
  { command: 'tab 5', keys: ['5'], title: 'Fifth tab', group: 'Views' },
  { command: 'tab 6', keys: ['6'], title: 'Sixth tab', group: 'Views' },

  { command: 'fit', keys: ['z'], title: 'Fit to the window', group: 'Timeline and graph' },
  { command: 'zoom in', keys: ['+', '='], title: 'Zoom in', group: 'Timeline and graph' },
  { command: 'zoom out', keys: ['-'], title: 'Zoom out', group: 'Timeline and graph' },
  { command: 'to now', keys: ['n'], title: 'Scroll to now', group: 'Timeline and graph' },
  { command: 'group by', keys: ['b'], title: 'Group by phase or by agent', group: 'Timeline and graph' },
  { command: 'as list', keys: ['i'], title: 'Show as a list or a graph', group: 'Timeline and graph' },
] as const satisfies readonly Binding[]

export type KeyCommand = (typeof bindings)[number]['command']

/** The keys that are shown for a command. */
export function keysOf(command: KeyCommand): string {
  return bindings.find((binding) => binding.command === command)?.keys[0] ?? ''
}
