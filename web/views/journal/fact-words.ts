import type { JournalFact } from '../../api/answers.ts'

/** A fact as a line: what happened, and to what. */
export interface FactWords {
  readonly what: string
  readonly about: string
  /** The path of the view that shows what it is about. */
  readonly link: string | null
}

/** Reads any kind of fact, also one that a newer server tells of. `names` are those of tasks and missions by id. */
export function factWords({ kind, body }: JournalFact, names: ReadonlyMap<string, string>): FactWords {
  const entity = Object.values(body).find(isRecord) ?? {}
  const said = ['name', 'question', 'message', 'description', 'content', 'reason', 'answer', 'summary']
  const about = [entity, body].flatMap((record) => said.flatMap((field) => textOf(record, field)))[0]
  const [noun = '', verb = ''] = kind.split('.')
  const link = linkOf(kind, entity, body)
  const named = link === null ? undefined : names.get(link.slice(link.lastIndexOf('/') + 1))
  return { what: `${capital(noun)} ${verb.replaceAll('_', ' ')}`, about: about ?? named ?? '', link }
}

type Fields = Readonly<Record<string, unknown>>

function linkOf(kind: string, entity: Fields, body: Fields): string | null {
  const own = textOf(entity, 'id')[0]
  if (kind === 'task.planned' && own) return `/tasks/${own}`
  if (kind === 'mission.started' && own) return `/missions/${own}`
  const of = (field: string) => textOf(body, field)[0] ?? textOf(entity, field)[0]
  const [task, mission] = [of('taskId'), of('missionId')]
  if (task) return `/tasks/${task}`
  return mission ? `/missions/${mission}` : null
}

function textOf(record: Fields, field: string): readonly string[] {
  const value = record[field]
  return typeof value === 'string' && value !== '' ? [value] : []
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
