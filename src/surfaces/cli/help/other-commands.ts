/** What the program can do besides the operations. */
export interface OtherCommand {
  readonly command: string
  readonly title: string
  readonly usage: string
}

export const otherCommands: readonly OtherCommand[] = [
  {
    command: 'mcp',
    title: 'MCP server (stdio): read JSON-RPC on stdin, write on stdout',
    usage:
      'waymark mcp [--project <folder>] [--toolsets plan,track,gate] [--read-only] [--tool-names dotted]',
  },
  {
    command: 'hook',
    title: 'Answer a hook of a coding agent: JSON on stdin, a decision or nothing on stdout',
    usage: 'waymark hook pre-tool-use|session-start|stop',
  },
  {
    command: 'pre-tool-use',
    title: 'The same as hook pre-tool-use',
    usage: 'waymark pre-tool-use',
  },
  {
    command: 'completion',
    title: 'Completion for a shell: bash, zsh or fish',
    usage: 'waymark completion bash|zsh|fish',
  },
  { command: 'help', title: 'Explain a command', usage: 'waymark help [command]' },
]
