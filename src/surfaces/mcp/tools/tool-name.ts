import type { ToolNames } from '../surface.ts'

const gate = 'state_gate_'

/** The name that a tool is listed by. */
export function listedName(tool: string, names: ToolNames): string {
  return names === 'dotted' ? dotted(tool) : tool
}

/** The tool that a caller means: both spellings are understood, whichever is listed. */
export function calledTool(name: string): string {
  return name.startsWith('state_gate.') ? gate + name.slice(gate.length) : name
}

function dotted(tool: string): string {
  return tool.startsWith(gate) ? `state_gate.${tool.slice(gate.length)}` : tool
}
