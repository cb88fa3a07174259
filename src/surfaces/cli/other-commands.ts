/** What the program can do besides the operations. */
export interface OtherCommand {
  readonly command: string
  readonly title: string
  readonly usage: string
  /** What may follow it. */
  readonly words: readonly string[]
  /** Its flags, each with what it is for. */
  readonly flags?: readonly (readonly [string, string])[]
}

export const mcpUsage =
  'waymark mcp [--project <folder>] [--toolsets auto|plan,track,gate] [--read-only] [--tool-names dotted]'

export const serveUsage =
  'waymark serve [--port 4747] [--project <folder>]… [--open] [--host <address>] [--allow-remote] [--allow-host <name>]… [--toolsets auto|plan,track,gate] [--log-level debug|info|warn|error|silent]'

export const tokenUsage =
  'waymark token add <name> [--kind agent|person] [--role <role>] | waymark token list | waymark token remove <name>'

export const logoutUsage = 'waymark logout [<name of a token>]'

export const demoUsage =
  'waymark demo play [--speed <times>] [--at-once] [--port <port>] [--open] [--recording <folder>]'

export const otherCommands: readonly OtherCommand[] = [
  {
    command: 'mcp',
    title: 'MCP server (stdio): read JSON-RPC on stdin, write on stdout',
    usage: mcpUsage,
    words: ['--project', '--toolsets', '--read-only', '--tool-names'],
  },
  {
    command: 'serve',
    title: 'Serve the dashboard, the HTTP API, the live feed and MCP over HTTP',
    usage: serveUsage,
    words: [
      '--port',
      '--project',
      '--open',
      '--host',
      '--allow-remote',
      '--allow-host',
      '--toolsets',
      '--log-level',
    ],
  },
  {
    command: 'demo play',
    title: 'Play a recorded day of real work on a dashboard of its own, in a temporary folder',
    usage: demoUsage,
    words: ['--speed', '--at-once', '--port', '--open', '--recording'],
    flags: [
      ['--speed <times>', 'How many times as fast as it was; default: so that the day takes a minute'],
      ['--at-once', 'The whole day at once'],
      ['--port <port>', 'Default: one that is free'],
      ['--open', 'Open the dashboard in a browser'],
      ['--recording <folder>', 'Another recording than the one that comes with Waymark'],
    ],
  },
  {
    command: 'token',
    title: 'Tokens of the server: add, list, remove',
    usage: tokenUsage,
    words: ['add', 'list', 'remove', '--kind', '--role'],
  },
  {
    command: 'logout',
    title: 'End the logins of the dashboard: all of them, or those of one token',
    usage: logoutUsage,
    words: [],
  },
  {
    command: 'hook',
    title: 'Answer a hook of a coding agent: JSON on stdin, a decision or nothing on stdout',
    usage: 'waymark hook pre-tool-use|session-start|stop',
    words: ['pre-tool-use', 'session-start', 'stop'],
  },
  {
    command: 'pre-tool-use',
    title: 'The same as hook pre-tool-use',
    usage: 'waymark pre-tool-use',
    words: [],
  },
  {
    command: 'completion',
    title: 'Completion for a shell: bash, zsh or fish',
    usage: 'waymark completion bash|zsh|fish',
    words: ['bash', 'zsh', 'fish'],
  },
  { command: 'help', title: 'Explain a command', usage: 'waymark help [command]', words: [] },
]
