/** A command of the keyboard. A view that is shown says what it does; without that it does nothing. */
interface Binding {
  /** Names it for handlers. */
  readonly command: string
  /** One key, or two after each other: `g i`. Several ways, the first of which is shown. Views may share a key. */
  readonly keys: readonly string[]
  readonly title: string
  readonly group: 'Everywhere' | 'Go to' | 'Lists' | 'Inbox' | 'Review' | 'Plan' | 'Views' | 'Picture'
}

/** The one table of keys: read by the dispatcher, the help sheet and the palette. */
export const bindings = [
  { command: 'palette', keys: ['mod+k', '/'], title: 'Search or run a command', group: 'Everywhere' },
  { command: 'help', keys: ['?'], title: 'Show all keys', group: 'Everywhere' },
  { command: 'theme', keys: ['\\'], title: 'Switch between light and dark', group: 'Everywhere' },
  { command: 'copy id', keys: ['y'], title: 'Copy the id', group: 'Everywhere' },
  { command: 'log out', keys: ['g q'], title: 'Log out of this browser', group: 'Everywhere' },
  { command: 'close', keys: ['Escape'], title: 'Close, or clear the selection', group: 'Everywhere' },

  { command: 'go inbox', keys: ['g i'], title: 'Inbox', group: 'Go to' },
  { command: 'go board', keys: ['g b'], title: 'Board', group: 'Go to' },
  { command: 'go missions', keys: ['g m'], title: 'Missions', group: 'Go to' },
  { command: 'go plan', keys: ['g p'], title: 'Plan', group: 'Go to' },
  { command: 'go dependencies', keys: ['g d'], title: 'Dependencies', group: 'Go to' },
  { command: 'go processes', keys: ['g r'], title: 'Processes', group: 'Go to' },
  { command: 'go history', keys: ['g h'], title: 'History', group: 'Go to' },
  { command: 'go log', keys: ['g j'], title: 'Log', group: 'Go to' },
  { command: 'go lines', keys: ['g l'], title: 'Lines of a file', group: 'Go to' },
  { command: 'go statistics', keys: ['g t'], title: 'Statistics', group: 'Go to' },
  { command: 'go agents', keys: ['g a'], title: 'Agents', group: 'Go to' },
  { command: 'go projects', keys: ['g o'], title: 'Projects', group: 'Go to' },
  { command: 'go settings', keys: ['g s'], title: 'Settings', group: 'Go to' },

  { command: 'next', keys: ['j', 'ArrowDown'], title: 'Next', group: 'Lists' },
  { command: 'previous', keys: ['k', 'ArrowUp'], title: 'Previous', group: 'Lists' },
  { command: 'open', keys: ['Enter'], title: 'Open what is selected', group: 'Lists' },
  { command: 'peek', keys: ['Space'], title: 'Fold, unfold or look at it', group: 'Lists' },
  { command: 'left', keys: ['h', 'ArrowLeft'], title: 'To the left', group: 'Lists' },
  { command: 'right', keys: ['l', 'ArrowRight'], title: 'To the right', group: 'Lists' },
  { command: 'filter', keys: ['f'], title: 'Filter', group: 'Lists' },

  { command: 'approve', keys: ['a'], title: 'Approve', group: 'Inbox' },
  { command: 'send back', keys: ['r'], title: 'Send back', group: 'Inbox' },
  { command: 'resolve', keys: ['e'], title: 'Resolve with an answer', group: 'Inbox' },
  { command: 'open diff', keys: ['d'], title: 'Review the changes', group: 'Inbox' },
  { command: 'undo', keys: ['u'], title: 'Undo, for five seconds', group: 'Inbox' },

  { command: 'next file', keys: [']'], title: 'Next file', group: 'Review' },
  { command: 'previous file', keys: ['['], title: 'Previous file', group: 'Review' },
  { command: 'next change', keys: ['.'], title: 'Next change', group: 'Review' },
  { command: 'previous change', keys: [','], title: 'Previous change', group: 'Review' },
  { command: 'next comment', keys: ['o'], title: 'Next comment', group: 'Review' },
  { command: 'previous comment', keys: ['O'], title: 'Previous comment', group: 'Review' },
  { command: 'viewed', keys: ['v'], title: 'Mark the file as viewed, or not', group: 'Review' },
  { command: 'comment', keys: ['c'], title: 'Comment on the line', group: 'Review' },
  { command: 'comment file', keys: ['F'], title: 'Comment on the file', group: 'Review' },
  { command: 'send', keys: ['s'], title: 'Send the comments', group: 'Review' },
  { command: 'side by side', keys: ['t'], title: 'Side by side, or not', group: 'Review' },
  { command: 'white space', keys: ['w'], title: 'Hide white space, or show it', group: 'Review' },
  { command: 'whose line', keys: ['W'], title: 'Whose the line is, and why', group: 'Review' },
  { command: 'whole file', keys: ['x'], title: 'The whole file, or what changed', group: 'Review' },

  { command: 'add', keys: ['c'], title: 'New task', group: 'Plan' },
  { command: 'add phase', keys: ['p'], title: 'Add a phase', group: 'Plan' },
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

  { command: 'fit', keys: ['z'], title: 'Fit everything', group: 'Picture' },
  { command: 'zoom in', keys: ['+', '='], title: 'Closer', group: 'Picture' },
  { command: 'zoom out', keys: ['-'], title: 'Further', group: 'Picture' },
  { command: 'to now', keys: ['n'], title: 'To now', group: 'Picture' },
  { command: 'group by', keys: ['b'], title: 'By phase or by agent', group: 'Picture' },
  { command: 'as list', keys: ['i'], title: 'As a list', group: 'Picture' },
] as const satisfies readonly Binding[]

export type KeyCommand = (typeof bindings)[number]['command']

/** The keys that are shown for a command. */
export function keysOf(command: KeyCommand): string {
  return bindings.find((binding) => binding.command === command)?.keys[0] ?? ''
}
