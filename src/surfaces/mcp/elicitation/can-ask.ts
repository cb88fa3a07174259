import { CLIENT_CAPABILITIES_META_KEY, type Server, type ServerContext } from '@modelcontextprotocol/server'

/** Whether a client says that it can put a form to its person: at the start of a session, or with each request. */
export function canAsk(server: Server, request: ServerContext, era: 'legacy' | 'modern'): boolean {
  if (era === 'legacy') return hasForms(server.getClientCapabilities())
  const envelope: Readonly<Record<string, unknown>> = { ...request.mcpReq.envelope }
  return hasForms(envelope[CLIENT_CAPABILITIES_META_KEY])
}

/** `elicitation: {}` means forms; else `form` must be among what it names. */
function hasForms(capabilities: unknown): boolean {
  if (typeof capabilities !== 'object' || capabilities === null) return false
  const { elicitation } = { elicitation: undefined, ...capabilities }
  if (typeof elicitation !== 'object' || elicitation === null) return false
  return Object.keys(elicitation).length === 0 || 'form' in elicitation
}
