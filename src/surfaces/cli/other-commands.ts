/** What the program can do besides the operations. */
export interface OtherCommand {
  readonly command: string
  readonly title: string
  /** Its flags are read from here: `[--port <number>]` takes a value, `[--open]` none, `[--name <text>]…` several. */
  readonly usage: string
  /** What may follow it, besides its flags. */
  readonly words?: readonly string[]
  /** It is the operation of that name, and these are flags besides its own. */
  readonly joins?: true
  /** When it is the operation of that name instead. */
  readonly otherwise?: string
  /** What its flags are for. */
  readonly explained?: readonly (readonly [string, string])[]
}

const setupFlags: NonNullable<OtherCommand['explained']> = [
  [
    '--user',
    'In your own files, for all projects; default: in files of this project, where the client reads such',
  ],
  ['--allow', 'Agents may call Waymark’s own tools without asking each time'],
  ['--rules', 'Adds a short section to AGENTS.md or the file that the client reads'],
  [
    '--hooks',
    'The client asks Waymark before it calls a tool, and what happens is recorded; in your own file',
  ],
  ['--shared', 'Hooks in the file of the project that is committed, for everybody who works in it'],
  ['--no-capture', 'With --hooks: nothing is recorded'],
  ['--toolsets <names>', 'Only these tools: plan, track, gate, with commas; or auto'],
  ['--via npx', 'The entry starts Waymark with npx'],
  ['--dry-run', 'Shows all that would be written, and writes nothing'],
  ['--check', 'The same, and fails when something would be'],
  ['--undo', 'Takes back what setup wrote, to the byte'],
  ['--force', 'Replaces an entry of that name that setup did not write'],
  ['--yes', 'Writes without asking'],
  ['--json, --format json', 'The plan and the result as one JSON object; nothing is asked'],
  ['--project <folder>', 'Default: the enclosing repository'],
]

export const otherCommands: readonly OtherCommand[] = [
  {
    command: 'mcp',
    title: 'MCP server (stdio): read JSON-RPC on stdin, write on stdout',
    usage:
      'waymark mcp [--project <folder>] [--server <url>] [--toolsets auto|plan,track,gate] [--read-only] [--tool-names dotted]',
    explained: [
      ['--project <folder>', 'Default: what the client names, else the enclosing repository'],
      ['--server <url>', 'The server that keeps the project, where waymark connect did not say it'],
      ['--toolsets <names>', 'List these tools only: plan, track, gate, with commas; or auto. Default: all'],
      ['--read-only', 'List only tools that change nothing'],
      ['--tool-names dotted', 'Names of the gate’s tools with dots, as in state_gate'],
    ],
  },
  {
    command: 'setup',
    title:
      'Set a client up: the server’s entry, a skill that tells agents of it, and what else is asked for; shown before it is written',
    usage:
      'waymark setup <client> [--user] [--allow] [--rules] [--hooks] [--shared] [--no-capture] [--toolsets <names>] [--via npx] [--dry-run] [--check] [--undo] [--force] [--yes] [--json] [--format json|text] [--project <folder>]',
    words: [
      'claude',
      'cursor',
      'vscode',
      'codex',
      'gemini',
      'antigravity',
      'opencode',
      'copilot',
      'devin',
      'zed',
      'claude-desktop',
      'cline',
    ],
    explained: [
      [
        '<client>',
        'claude, cursor, vscode, codex, gemini, antigravity, opencode, copilot, devin, zed, claude-desktop or cline',
      ],
      ...setupFlags,
    ],
  },
  {
    command: 'init',
    title: 'Set up every client that is found here, as setup does for one',
    otherwise: 'Alone in a pipe',
    usage:
      'waymark init [--clients <names>] [--user] [--allow] [--rules] [--hooks] [--shared] [--no-capture] [--toolsets <names>] [--via npx] [--dry-run] [--check] [--undo] [--force] [--yes] [--json] [--format json|text] [--project <folder>]',
    explained: [['--clients <names>', 'These, with commas; default: those that are found'], ...setupFlags],
  },
  {
    command: 'connect',
    title: 'Keep this project at a server: its token is asked for, and every command here asks that server',
    usage:
      'waymark connect <url> [--project <name>] [--new] [--trust-commands] [--no-trust-commands] [--hooks-closed] [--json] [--format json|text]',
    explained: [
      ['--project <name>', 'The project at the server, where it has several'],
      ['--new', 'Make the project where there is none of that name yet: for admins of the server'],
      ['--trust-commands', 'Commands of guards that a person approved at the server run on this machine'],
      ['--hooks-closed', 'Hooks forbid every call while nothing of the project is known on this machine'],
      ['--no-trust-commands', 'Only what a person approved on this machine runs here (the default)'],
      ['--json, --format json', 'The result as JSON'],
    ],
  },
  {
    command: 'disconnect',
    title: 'Disconnect this project from its server',
    usage: 'waymark disconnect [--json] [--format json|text]',
    explained: [['--json, --format json', 'The result as JSON']],
  },
  {
    command: 'serve',
    title: 'Serve the dashboard, the HTTP API, the live feed and MCP over HTTP',
    usage:
      'waymark serve [--port 4747] [--project <folder>]… [--open] [--host <address>] [--allow-remote] [--allow-host <name>]… [--trust-proxy] [--public-url <url>] [--oidc-issuer <url>] [--oidc-client <id>] [--toolsets auto|plan,track,gate] [--log-level debug|info|warn|error|silent]',
    explained: [
      ['--port <number>', 'This port or none; default: that of the last time, else 4747, else any free one'],
      ['--project <folder>', 'Serve this project; may be repeated. Default: the enclosing repository'],
      ['--open', 'Open the dashboard in a browser'],
      ['--host <address>', 'The address to listen on, with --allow-remote; default: 127.0.0.1'],
      ['--allow-remote', 'Let other machines in, each with a token'],
      ['--allow-host <name>', 'Another name by which it may be addressed; may be repeated'],
      ['--trust-proxy', 'A proxy in front says who asks, and whether they came by TLS'],
      ['--public-url <url>', 'Where people reach the dashboard: links in notifications begin with it'],
      ['--oidc-issuer <url>', 'People may sign in with OpenID Connect at this issuer'],
      ['--oidc-client <id>', 'The name of this server there'],
      [
        '--toolsets <names>',
        'The tools that MCP lists: plan, track, gate, with commas; or auto. Default: all',
      ],
      ['--log-level <level>', 'debug, info, warn, error or silent; default: info'],
    ],
  },
  {
    command: 'watch',
    title: 'Print what needs a person as it happens: what, who, why, and the command that answers it',
    usage: 'waymark watch [--json] [--all] [--notify] [--project <folder>]',
    explained: [
      ['--json', 'A line of JSON for each, for programs'],
      ['--all', 'Everything that happens, not only what needs a person'],
      ['--notify', 'Also on this desktop, and by the webhooks of waymark notify, without a server'],
      ['--project <folder>', 'Default: the enclosing repository'],
    ],
  },
  {
    command: 'review',
    title: 'Look at work through $PAGER, write comments in $EDITOR, approve it or send it back',
    usage:
      'waymark review [<task or mission>] [--since] [--again] [--write] [--from <file>] [--drop <comment>]… [--approve] [--send-back] [--comment] [--text <words>] [--content <hash>] [--format json|text] [--json] [--project <folder>]',
    explained: [
      ['--since', 'Everything that ended since you last looked at it all'],
      ['--again', 'The whole difference, with what you have looked at; also beside --write and --from'],
      ['--write', 'Write comments in $EDITOR below the quoted lines: "? " begins a question, "! " a request'],
      ['--from <file>', 'Take the comments from a file as --write would show it'],
      ['--drop <comment>', 'Remove a comment that is not sent (rc-…), or all of them: --drop all'],
      ['--approve', 'Say yes to exactly what was shown, with your comments'],
      ['--send-back', 'Send the work back with your comments'],
      ['--comment', 'Only send your comments'],
      ['--text <words>', 'What you say of the whole'],
      ['--content <hash>', 'What you were shown; refused if it has changed since'],
      ['--format json|text', 'Text without it; --json is the same as --format json'],
      ['--project <folder>', 'Default: the enclosing repository'],
    ],
  },
  {
    command: 'top',
    title: 'A live full screen: what waits for you with its verbs, who works on what, and the missions',
    usage: 'waymark top [--project <folder>]',
    explained: [['--project <folder>', 'Default: the enclosing repository']],
  },
  {
    command: 'check',
    joins: true,
    title: 'In CI the exit code is 0 where it passed, 1 where it did not, 2 where it could not be checked',
    usage: 'waymark check [--gitlab <file>]',
    explained: [['--gitlab <file>', 'Also write what did not pass as a report of code quality for GitLab']],
  },
  {
    command: 'demo',
    title: 'Play a recorded day of work in a dashboard of its own; needs no project and leaves nothing',
    usage:
      'waymark demo [--no-open] [--wait] [--speed <times>] [--at-once] [--port <port>] [--recording <folder>]',
    explained: [
      ['--speed <times>', 'How many times faster than real time; default: the day takes a minute'],
      ['--at-once', 'The whole day at once'],
      ['--port <port>', 'Default: any free port'],
      ['--no-open', 'Print the address only; default: a browser opens where there is one'],
      ['--wait', 'Start when the button on the first page is pressed'],
      ['--recording <folder>', 'A recording other than the one that comes with Waymark'],
    ],
  },
  {
    command: 'worktree start',
    title: 'Start a client in the work tree of a task, which is made where it has none',
    usage:
      'waymark worktree start <task> [--client <name>] [--print] [--folder <folder>] [--branch <name>] [--from <commit>]',
    explained: [
      [
        '--client <name>',
        'claude, cursor, codex, gemini, antigravity, opencode, copilot, cline or qwen; default: the one that is installed',
      ],
      ['--print', 'Print the command that starts it, and start nothing'],
      ['--folder <folder>', 'Where a new tree is made'],
      ['--branch <name>', 'Name of its branch; default: <task>-<name of the task>'],
      ['--from <commit>', 'Branch, tag or commit to begin at; default: where you are'],
    ],
  },
  {
    command: 'hook',
    title: 'Answer a hook of a coding agent: JSON on stdin, a decision or nothing on stdout',
    usage: 'waymark hook pre-tool-use|session-start|stop [client]',
    words: ['pre-tool-use', 'session-start', 'stop'],
    explained: [
      [
        'pre-tool-use',
        'Before a tool is called: says no, or asks, where the state of a run or the areas forbid it',
      ],
      ['session-start', 'When a session begins: tells its agent what is open here'],
      ['stop', 'When an agent stops: warns the person where a task of its is still open'],
      [
        '[client]',
        'Whose hook it is, claude or codex say, where the JSON does not tell; setup writes these lines',
      ],
    ],
  },
  { command: 'pre-tool-use', title: 'The same as hook pre-tool-use', usage: 'waymark pre-tool-use' },
  {
    command: 'capture',
    title: 'Record sessions and turns by the hooks of clients, without any call of an agent',
    usage:
      'waymark capture on|off|status [--prompts off|local] [--commands program|full] [--secret <pattern>]… [--json] [--format json|text] [--project <folder>]',
    words: ['on', 'off', 'status'],
    explained: [
      [
        '--prompts off|local',
        'Keep what people ask, redacted, in the database here; default: off, only its length',
      ],
      ['--commands program|full', 'Keep lines of commands, redacted; default: the name of the program'],
      [
        '--secret <pattern>',
        'Files that are never copied, besides those whose names say that they hold secrets',
      ],
      ['--json, --format json', 'The state as JSON'],
      ['--project <folder>', 'Another project than the one of this folder'],
    ],
  },
  {
    command: 'ingest',
    title: 'Record captured hook events: hooks and other commands start it by themselves',
    usage: 'waymark ingest [--once] [--json] [--format json|text] [--project <folder>]',
    explained: [
      ['--once', 'End when nothing waits any more'],
      ['--json, --format json', 'That it ended, as JSON'],
      ['--project <folder>', 'Another project than the one of this folder'],
    ],
  },
  {
    command: 'completion',
    title: 'Completion for a shell: bash, zsh or fish',
    usage: 'waymark completion bash|zsh|fish',
    words: ['bash', 'zsh', 'fish'],
  },
  { command: 'help', title: 'Explain a command', usage: 'waymark help [command]' },
]

/** A flag of such a command. */
export interface OtherFlag {
  readonly name: string
  readonly takesValue: boolean
  readonly many: boolean
}

export function flagsIn(usage: string): readonly OtherFlag[] {
  return [...usage.matchAll(/\[--([a-z-]+)( [^\]]+)?\](…?)/g)].map(([, name = '', value, many]) => ({
    name,
    takesValue: value !== undefined,
    many: many !== '',
  }))
}

/** What completes a command line that has come to this command. */
export function wordsAfter({ usage, words = [] }: OtherCommand): readonly string[] {
  return [...words, ...flagsIn(usage).map(({ name }) => `--${name}`)]
}
