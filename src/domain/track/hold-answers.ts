import type { Hold } from './records.ts'

/** One way to end a hold: a word for it, and the command that does it. */
export interface HoldAnswer {
  readonly verb: string
  readonly command: string
}

/** What a person can say to a hold. What asks is answered in words; a yes alone is for what asks for one. */
export function answersTo({ id, kind }: Pick<Hold, 'id' | 'kind'>): readonly HoldAnswer[] {
  const answer = { verb: 'Answer', command: `waymark resolve ${id} "<answer>"` }
  const dismiss = (verb: string) => ({ verb, command: `waymark resolve ${id} --dismiss` })
  const approve = { verb: 'Approve', command: `waymark approve ${id}` }
  switch (kind) {
    case 'blocker':
      return [answer, dismiss('Dismiss')]
    case 'review':
      return [answer, approve, dismiss('Dismiss')]
    case 'scope':
      return [
        { verb: 'Accept the files', command: `waymark resolve ${id}` },
        dismiss('Leave them out of scope'),
      ]
    case 'approval':
    case 'command':
      return [approve, { verb: 'Reject', command: `waymark reject ${id} "<reason>"` }]
    case 'stale_attempt':
      return [{ verb: 'Give it up', command: `waymark resolve ${id}` }, dismiss('Let it go on')]
  }
}
