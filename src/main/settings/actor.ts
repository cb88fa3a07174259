import type { Actor } from '../../domain/actor.ts'
import { shownName } from '../../surfaces/mcp/client-name.ts'
import { type Environment, firstSet } from './environment.ts'

/** What agents set in the shells that they run, and what they are called. */
const agentMarks: Readonly<Record<string, string>> = {
  CLAUDECODE: 'claude-code',
  CLAUDE_CODE: 'claude-code',
  CURSOR_AGENT: 'cursor',
  CODEX_SANDBOX: 'codex',
  CODEX_SANDBOX_NETWORK_DISABLED: 'codex',
  CODEX_THREAD_ID: 'codex',
  GEMINI_CLI: 'gemini-cli',
  QWEN_CODE: 'qwen-code',
  OPENCODE: 'opencode',
  AUGMENT_AGENT: 'augment',
  CLINE_ACTIVE: 'cline',
  COPILOT_CLI: 'copilot',
  AI_AGENT: 'agent',
}

/** Who uses the command line: a person, except inside an agent's shell. */
export function commandLineActor(environment: Environment, userName: string): Actor {
  const agent = agentOf(environment)
  return {
    name: firstSet(environment, ['WAYMARK_ACTOR']) ?? agent ?? userName,
    kind: agent === null ? 'person' : 'agent',
    role: roleOf(environment),
    channel: 'cli',
  }
}

/** Who speaks over standard input: an agent, called what its client calls itself. */
export function stdioActor(
  environment: Environment,
  clientName: string | undefined,
  connection: string,
): Actor {
  return {
    name:
      firstSet(environment, ['WAYMARK_ACTOR']) ?? shownName(clientName) ?? agentOf(environment) ?? 'agent',
    kind: 'agent',
    role: roleOf(environment),
    channel: 'stdio',
    connection,
  }
}

function agentOf(environment: Environment): string | null {
  const mark = Object.keys(agentMarks).find((name) => isSet(environment[name]))
  return mark === undefined ? null : (agentMarks[mark] ?? null)
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value)
}

function roleOf(environment: Environment): string | null {
  return firstSet(environment, ['WAYMARK_ROLE', 'STATE_GATE_ROLE']) ?? null
}
