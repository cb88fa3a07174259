/** What the program can do besides the operations. */
export interface OtherCommand {
  readonly command: string
  readonly title: string
  /** Its flags are read from here: `[--port <number>]` takes a value, `[--open]` none, `[--name <text>]…` several. */
  readonly usage: string
  /** What may follow it, besides its flags. */
  readonly words?: readonly string[]
  /** What its flags are for. */
  readonly explained?: readonly (readonly [string, string])[]
}

export const otherCommands: readonly OtherCommand[] = [
  {
    command: 'mcp',
    title: 'MCP server (stdio): read JSON-RPC on stdin, write on stdout',
    usage:
      'waymark mcp [--project <folder>] [--server <url>] [--toolsets auto|plan,track,gate] [--read-only] [--tool-names dotted]',
  },
  {
    command: 'connect',
    title: 'Keep this project at a server: its token is asked for, and every command here asks that server',
    usage:
      'waymark connect <url> [--project <name>] [--new] [--trust-commands] [--no-trust-commands] [--hooks-closed]',
    explained: [
      ['--project <name>', 'The project at the server, where it has several'],
      ['--new', 'Make the project where there is none of that name yet: for admins of the server'],
      ['--trust-commands', 'Commands of guards that a person approved at the server run on this machine'],
      ['--hooks-closed', 'Hooks forbid every call while nothing of the project is known on this machine'],
      ['--no-trust-commands', 'Only what a person approved on this machine runs here (the default)'],
    ],
  },
  {
    command: 'disconnect',
    title: 'Keep this project at its server no more: what waits here is sent first',
    usage: 'waymark disconnect [--discard]',
    explained: [['--discard', 'Throw away what could not be sent']],
  },
  {
    command: 'serve',
    title: 'Serve the dashboard, the HTTP API, the live feed and MCP over HTTP',
    usage:
      'waymark serve [--port 4747] [--project <folder>]… [--open] [--host <address>] [--allow-remote] [--allow-host <name>]… [--trust-proxy] [--oidc-issuer <url>] [--oidc-client <id>] [--toolsets auto|plan,track,gate] [--log-level debug|info|warn|error|silent]',
  },
  {
    command: 'demo play',
    title: 'Play a recorded day of real work on a dashboard of its own, in a temporary folder',
    usage: 'waymark demo play [--speed <times>] [--at-once] [--port <port>] [--open] [--recording <folder>]',
    explained: [
      ['--speed <times>', 'How many times faster than real time; default: the day takes a minute'],
      ['--at-once', 'The whole day at once'],
      ['--port <port>', 'Default: any free port'],
      ['--open', 'Open the dashboard in a browser'],
      ['--recording <folder>', 'A recording other than the one that comes with Waymark'],
    ],
  },
  {
    command: 'token',
    title: 'Tokens of the server of this user; with WAYMARK_DATABASE, those of the persons in it',
    usage:
      'waymark token create <name> [--kind agent|person] [--role <role>] | waymark token list | waymark token revoke <name>',
    words: ['create', 'list', 'revoke'],
  },
  {
    command: 'logout',
    title: 'End the logins of the dashboard: all of them, or those of one token',
    usage: 'waymark logout [<name of a token>]',
  },
  {
    command: 'hook',
    title: 'Answer a hook of a coding agent: JSON on stdin, a decision or nothing on stdout',
    usage: 'waymark hook pre-tool-use|session-start|stop',
    words: ['pre-tool-use', 'session-start', 'stop'],
  },
  { command: 'pre-tool-use', title: 'The same as hook pre-tool-use', usage: 'waymark pre-tool-use' },
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
