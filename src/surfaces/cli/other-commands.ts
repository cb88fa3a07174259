/** The commands of the program besides the operations. */
export interface OtherCommand {
  readonly command: string
  readonly title: string
  /** Defines its flags: `[--port <number>]` takes a value, `[--open]` none, `[--name <text>]…` several. */
  readonly usage: string
  /** Its positional arguments. */
  readonly words?: readonly string[]
  /** It extends the operation of that name with flags. */
  readonly joins?: true
  /** When the operation of that name runs instead, as a sentence that the description of the operation follows. */
  readonly otherwise?: string
  /** The descriptions of its flags. */
  readonly explained?: readonly (readonly [string, string])[]
}

const setupFlags: NonNullable<OtherCommand['explained']> = [
  [
    '--user',
    'Write your own files, for all projects; default: files of this project, if the client reads them',
  ],
  ['--allow', 'Let agents call Waymark’s tools without asking each time'],
  ['--rules', 'Add a short section to AGENTS.md, or the file that the client reads'],
  [
    '--hooks',
    'Install hooks in your own file: the client asks Waymark before tool calls, and sessions are recorded',
  ],
  ['--shared', 'Write files to commit, for everybody: entries that name waymark, and hooks'],
  ['--no-capture', 'With --hooks: record no sessions'],
  ['--toolsets <names>', 'Only these tools: plan, track, gate, comma-separated; or auto'],
  ['--via npx', 'Let clients start Waymark with npx instead of the waymark command'],
  ['--dry-run', 'Show the changes, and write nothing'],
  ['--check', 'Like --dry-run, but fail if anything would be written'],
  ['--undo', 'Restore the files as they were before setup'],
  ['--force', 'Replace an entry of that name that setup did not write'],
  ['--yes', 'Write without asking'],
  ['--json, --format json', 'Print plan and result as one JSON object, without asking'],
  ['--project <folder>', 'Project folder; default: the enclosing repository'],
]

export const otherCommands: readonly OtherCommand[] = [
  {
    command: 'mcp',
    title: 'MCP server (stdio): read JSON-RPC on stdin, write on stdout',
    usage:
      'waymark mcp [--project <folder>] [--server <url>] [--toolsets auto|plan,track,gate] [--read-only] [--tool-names dotted]',
    explained: [
      ['--project <folder>', "Project folder; default: the client's, else the enclosing repository"],
      ['--server <url>', 'Server that keeps the project; default: that of waymark connect'],
      [
        '--toolsets <names>',
        'List only these tools: plan, track, gate, comma-separated; or auto. Default: all',
      ],
      ['--read-only', 'List only tools that change nothing'],
      ['--tool-names dotted', 'Use dots in the names of gate tools, as in state_gate'],
    ],
  },
  {
    command: 'setup',
    title: 'Set up one client, such as claude or cursor',
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
    title: 'Set up the clients found here (the programs your agents run in)',
    otherwise:
      'It also makes the record (.waymark/). In a script without flags it makes only that, like the init of taskman:',
    usage:
      'waymark init [--clients <names>] [--user] [--allow] [--rules] [--hooks] [--shared] [--no-capture] [--toolsets <names>] [--via npx] [--dry-run] [--check] [--undo] [--force] [--yes] [--json] [--format json|text] [--project <folder>]',
    explained: [
      ['--clients <names>', 'Only these clients, comma-separated; default: those found'],
      ...setupFlags,
    ],
  },
  {
    command: 'connect',
    title: 'Connect this project to a server',
    usage:
      'waymark connect <url> [--project <name>] [--new] [--new-token] [--trust-commands] [--no-trust-commands] [--hooks-closed] [--json] [--format json|text]',
    explained: [
      ['--project <name>', 'Project on the server, if it has several'],
      ['--new', 'Create the project if it does not exist; admins of the server only'],
      [
        '--new-token',
        'Ask for a token even if this machine has one for the server. A token or invitation in WAYMARK_TOKEN or on standard input is always used',
      ],
      [
        '--trust-commands',
        'Run commands of guards on this machine once a person approved them on the server',
      ],
      ['--hooks-closed', 'Let hooks deny every call until the state of the project is known'],
      ['--no-trust-commands', 'Run only commands that a person approved on this machine (default)'],
      ['--json, --format json', 'Print the result as JSON'],
    ],
  },
  {
    command: 'disconnect',
    title: 'Disconnect this project from its server',
    usage: 'waymark disconnect [--json] [--format json|text]',
    explained: [['--json, --format json', 'Print the result as JSON']],
  },
  {
    command: 'open',
    title: 'Open the dashboard, signed in',
    usage: 'waymark open [--no-open] [--project <folder>] [--json] [--format json|text]',
    explained: [
      ['--no-open', 'Print the address only'],
      ['--project <folder>', 'Default: the enclosing repository'],
      ['--json, --format json', 'Print the address and the process as JSON'],
    ],
  },
  {
    command: 'serve',
    title: 'Serve the dashboard, the HTTP API and MCP over HTTP',
    usage:
      'waymark serve [--stop] [--port 4747] [--project <folder>]… [--open] [--host <address>] [--allow-remote] [--allow-host <name>]… [--trust-proxy] [--public-url <url>] [--oidc-issuer <url>] [--oidc-client <id>] [--toolsets auto|plan,track,gate] [--log-level debug|info|warn|error|silent]',
    explained: [
      ['--port <number>', 'Port, or fail; default: the last one, else 4747, else any free one'],
      ['--project <folder>', 'Project to serve; may be repeated. Default: the enclosing repository'],
      ['--open', 'Open the dashboard in a browser'],
      ['--stop', 'Stop the server that runs for these projects'],
      ['--host <address>', 'Address to listen on, with --allow-remote; default: 127.0.0.1'],
      ['--allow-remote', 'Accept other machines, each with a token'],
      ['--allow-host <name>', 'Also accept requests to this host name; may be repeated'],
      ['--trust-proxy', "Trust a proxy's headers for the client address and TLS"],
      ['--public-url <url>', 'Public address of the dashboard, for links in notifications'],
      ['--oidc-issuer <url>', 'Issuer for sign-in with OpenID Connect'],
      ['--oidc-client <id>', 'Client id of this server at the issuer'],
      [
        '--toolsets <names>',
        'List only these MCP tools: plan, track, gate, comma-separated; or auto. Default: all',
      ],
      ['--log-level <level>', 'debug, info, warn, error or silent; default: info'],
    ],
  },
  {
    command: 'watch',
    title: 'Print what needs you as it happens',
    usage: 'waymark watch [--json] [--all] [--notify] [--project <folder>]',
    explained: [
      ['--json', 'Print one line of JSON per entry'],
      ['--all', 'Print every log entry, not only what needs you'],
      ['--notify', 'Also send your notifications, without a server'],
      ['--project <folder>', 'Project folder; default: the enclosing repository'],
    ],
  },
  {
    command: 'review',
    title: 'Review work: read, comment, approve or send back',
    usage:
      'waymark review [<task or mission>] [--since] [--again] [--write] [--from <file>] [--drop <comment>]… [--approve] [--send-back] [--comment] [--text <words>] [--content <hash>] [--format json|text] [--json] [--project <folder>]',
    explained: [
      ['--since', 'All work that ended since your last full review'],
      ['--again', 'The whole diff, with files that you viewed before; also with --write and --from'],
      ['--write', 'Write comments in $EDITOR below the quoted lines: "? " starts a question, "! " a request'],
      ['--from <file>', 'Read comments from a file in the form of --write'],
      ['--drop <comment>', 'Delete an unsent comment (rc-…), or all of them: --drop all'],
      ['--approve', 'Approve the version you reviewed, with your comments'],
      ['--send-back', 'Send the work back with your comments'],
      ['--comment', 'Only send your comments'],
      ['--text <words>', 'Comment on the whole; or put the words after the action: --send-back "<words>"'],
      ['--content <hash>', 'Hash of the content you reviewed; refused if it changed'],
      ['--format json|text', 'Output format; default: text. --json is short for --format json'],
      ['--project <folder>', 'Project folder; default: the enclosing repository'],
    ],
  },
  {
    command: 'top',
    title: 'Watch inbox, agents and missions on a live screen',
    usage: 'waymark top [--project <folder>]',
    explained: [['--project <folder>', 'Project folder; default: the enclosing repository']],
  },
  {
    command: 'check',
    joins: true,
    title: 'In CI the exit code is 0 if it passed, 1 if it failed, 2 if it could not be checked',
    usage: 'waymark check [--gitlab <file>]',
    explained: [['--gitlab <file>', 'Also write findings as a code quality report for GitLab']],
  },
  {
    command: 'demo',
    title: 'Play a recorded day in a dashboard of its own',
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
    title: 'Start a client in the work tree of a task',
    usage:
      'waymark worktree start <task> [--client <name>] [--print] [--folder <folder>] [--branch <name>] [--from <commit>]',
    explained: [
      [
        '--client <name>',
        'claude, cursor, codex, gemini, antigravity, opencode, copilot, cline or qwen; default: the installed one',
      ],
      ['--print', 'Print the command, and start nothing'],
      ['--folder <folder>', 'Folder of a new work tree'],
      ['--branch <name>', 'Name of its branch; default: <task>-<name of the task>'],
      ['--from <commit>', 'Branch, tag or commit to start from; default: HEAD'],
    ],
  },
  {
    command: 'hook',
    title: 'Answer a hook of a client: JSON on stdin, decision on stdout',
    usage: 'waymark hook pre-tool-use|session-start|stop [client]',
    words: ['pre-tool-use', 'session-start', 'stop'],
    explained: [
      ['pre-tool-use', 'Before a tool call: deny it, or ask a person, if the run or the scope forbids it'],
      ['session-start', 'At the start of a session: tell the agent what is open'],
      ['stop', 'When an agent stops: warn the person about a task still open'],
      ['[client]', 'The client, such as claude or codex, if the JSON does not name it'],
    ],
  },
  {
    command: 'capture',
    title: 'Record sessions by hooks: turn on, off, or show',
    usage:
      'waymark capture on|off|status [--prompts off|local] [--commands program|full] [--secret <pattern>]… [--json] [--format json|text] [--project <folder>]',
    words: ['on', 'off', 'status'],
    explained: [
      [
        '--prompts off|local',
        'Keep prompts, redacted, in the local database; default: off, only their length',
      ],
      [
        '--commands program|full',
        'Keep whole command lines, redacted; default: only the name of the program',
      ],
      ['--secret <pattern>', 'Files that are never copied, besides those with names of secret files'],
      ['--json, --format json', 'Print the state as JSON'],
      ['--project <folder>', 'Another project than that of this folder'],
    ],
  },
  {
    command: 'ingest',
    title: 'Record queued hook events; runs automatically',
    usage: 'waymark ingest [--once] [--json] [--format json|text] [--project <folder>]',
    explained: [
      ['--once', 'End when the queue is empty'],
      ['--json, --format json', 'Print that it ended, as JSON'],
      ['--project <folder>', 'Another project than that of this folder'],
    ],
  },
  {
    command: 'completion',
    title: 'Print a completion script for bash, zsh or fish',
    usage: 'waymark completion bash|zsh|fish',
    words: ['bash', 'zsh', 'fish'],
  },
  {
    command: 'help',
    title: 'Show help for a command',
    usage: 'waymark help [command] [--all]',
    explained: [['--all', 'List every command']],
  },
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

/** The completions of this command. */
export function wordsAfter({ usage, words = [] }: OtherCommand): readonly string[] {
  return [...words, ...flagsIn(usage).map(({ name }) => `--${name}`)]
}
